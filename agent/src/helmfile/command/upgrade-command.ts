/** `helm upgrade --install NAME CHART`, as helmfile runs it for each release. Pure. */
import { parseGoDuration } from "@flotilla/shared/time";
import type { GivenFlag, ReadFlags } from "./flags.ts";
import { releaseFlags, valuesFlags } from "./upgrade-flags.ts";

/** A source of values. Helm merges files first, then what is set, by kind. */
export interface ValuesArgument {
  readonly flag: keyof typeof valuesFlags;
  readonly text: string;
}

type ReleaseFlag = keyof typeof releaseFlags;

/** What Helm is to do with a release, by the names of Helm's flags; a switch is true, or absent. */
export type ReleaseOptions = Readonly<Partial<Record<ReleaseFlag, string | true>>>;

export interface UpgradeCommand {
  readonly kind: "upgrade";
  readonly name: string;
  /** A path, `REPOSITORY/NAME`, an address of an archive or of a registry. */
  readonly chart: string;
  readonly namespace?: string;
  /** A version or a constraint. */
  readonly version?: string;
  readonly kubeContext?: string;
  readonly options: ReleaseOptions;
  readonly values: readonly ValuesArgument[];
}

/** Why a command is not carried out, for people; `flag` as it was written. */
export interface Refusal {
  readonly flag?: string;
  readonly why: string;
}

export function upgradeCommand({ positionals, flags }: ReadFlags): UpgradeCommand | Refusal {
  const [name, chart, ...others] = positionals;
  if (name === undefined || chart === undefined || others.length > 0)
    return { why: "it needs the name of a release and a chart" };
  for (const flag of flags) {
    const problem = problemOf(flag);
    if (problem !== undefined) return { flag: `--${flag.name}`, why: problem };
  }
  const last = (flag: string) => flags.findLast((each) => each.name === flag)?.value;
  const [namespace, version, kubeContext] = [
    last("namespace"),
    last("version"),
    last("kube-context"),
  ];
  return {
    kind: "upgrade",
    name,
    chart,
    ...(namespace !== undefined && { namespace }),
    ...(version !== undefined && { version }),
    ...(kubeContext !== undefined && { kubeContext }),
    options: optionsOf(flags),
    values: flags.flatMap(valuesOf),
  };
}

const allowed: Readonly<Record<string, readonly string[]>> = {
  wait: ["watcher", "legacy", "hookOnly"],
  "server-side": ["true", "false", "auto"],
};

/** Without the value, which may be a secret. */
function problemOf({ name, value }: GivenFlag): string | undefined {
  const values = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
  if (values !== undefined && !values.includes(value)) return `expected ${values.join(" or ")}`;
  if (name === "timeout" && (parseGoDuration(value) ?? -1) < 0)
    return "expected a duration such as 5m";
  if (name === "history-max" && !/^\d{1,9}$/.test(value)) return "expected a number";
  if (name === "values" && value.includes('"')) return "a path has a quotation mark";
  return undefined;
}

/** The last of equal flags counts. */
function optionsOf(flags: readonly GivenFlag[]): ReleaseOptions {
  const options: Partial<Record<ReleaseFlag, string | true>> = {};
  for (const { name, value } of flags) {
    if (!isReleaseFlag(name)) continue;
    if (releaseFlags[name].kind !== "switch") options[name] = value;
    else if (value === "true") options[name] = true;
    else delete options[name];
  }
  return options;
}

function isReleaseFlag(name: string): name is ReleaseFlag {
  return Object.hasOwn(releaseFlags, name);
}

/** `--values a,b` are two files. */
function valuesOf({ name, value }: GivenFlag): readonly ValuesArgument[] {
  if (!isValuesFlag(name)) return [];
  const texts = name === "values" ? value.split(",") : [value];
  return texts.map((text) => ({ flag: name, text }));
}

function isValuesFlag(name: string): name is ValuesArgument["flag"] {
  return Object.hasOwn(valuesFlags, name);
}
