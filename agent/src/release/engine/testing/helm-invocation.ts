/** The arguments of one run of Helm. */

export type HelmCommand = "upgrade" | "rollback" | "uninstall" | "test";

export interface HelmInvocation {
  readonly command: HelmCommand;
  readonly namespace: string;
  readonly name: string;
  /** The path of the chart, or the revision to roll back to. */
  readonly operand: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly flags: ReadonlySet<string>;
  readonly values: string;
}

export function parseHelmArgs(
  [command = "", ...args]: readonly string[],
  values: string,
): HelmInvocation {
  const [name = "", operand = ""] = args.slice(args.indexOf("--") + 1);
  const options = new Map(args.map(pairOf));
  const labels = (options.get("--labels") ?? "").split(",").filter((label) => label !== "");
  return {
    command: command as HelmCommand,
    namespace: options.get("--namespace") ?? "",
    ...{ name, operand, values },
    labels: Object.fromEntries(labels.map(pairOf)),
    flags: new Set(options.keys()),
  };
}

function pairOf(text: string): readonly [string, string] {
  const [key = "", ...value] = text.split("=");
  return [key, value.join("=")];
}

/** What of a run is specific to it. `revision`: the next one. */
export function describeHelmRun(invocation: HelmInvocation, revision: number): string {
  const { command, namespace, operand, flags } = invocation;
  const what = {
    upgrade: `upgrade to ${chartVersionIn(operand)} as revision ${revision}`,
    rollback: `rollback to revision ${operand}`,
    uninstall: "uninstall",
    test: "test",
  }[command];
  const more = notableFlags.filter((flag) => flags.has(flag)).map((flag) => ` ${flag}`);
  return `${what}${more.join("")} in ${namespace}`;
}

const notableFlags = [
  ...["--rollback-on-failure", "--force-conflicts", "--take-ownership", "--keep-history"],
];

/** `https://charts.example.com/app-1.2.0.tgz`. */
export function chartVersionIn(path: string): string {
  return /-(\d+\.\d+\.\d+)\.tgz$/.exec(path)?.[1] ?? "";
}
