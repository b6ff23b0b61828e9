/** `flotilla rollout`: shows staged rollouts, and writes what people may write of them. */
import { type Bundle, clusters } from "@flotilla/shared/api";
import { appDefinition, isAppKind } from "@flotilla/shared/api/apps";
import { type BundleRollout, bundleRollouts } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import type { HubOptions } from "../fleet/index.ts";
import {
  changeRollout,
  newestRollout,
  type RolloutChange,
  readRollouts,
  watchRollout,
} from "../rollout/index.ts";
import { printable } from "./printable.ts";
import { rolloutHistory, rolloutJson, rolloutsTable, rolloutText } from "./rollout-table.ts";
import { parseApp, parseCluster } from "./target.ts";
import { withHub } from "./with-hub.ts";

export type OutputOptions = { readonly output: "text" | "json" };

export interface RolloutOptions extends HubOptions {
  readonly namespace: string;
}

export interface ListOptions extends RolloutOptions, OutputOptions {
  readonly allNamespaces?: boolean;
}

/** Prints the newest rollout of each app. */
export async function listRollouts(options: ListOptions, config: CliConfig): Promise<void> {
  const { namespace, allNamespaces = false, output } = options;
  const { items } = await withHub(options, config, (rest) =>
    rest.list(bundleRollouts, allNamespaces ? {} : { namespace }),
  );
  const newest = newestOfEach(items);
  if (output === "json") return printJson(newest.map(rolloutJson));
  const where = allNamespaces ? "" : ` in the namespace ${namespace}`;
  process.stdout.write(
    newest.length === 0
      ? `there are no staged rollouts${where}\n`
      : rolloutsTable(newest, { hasNamespaces: allNamespaces }),
  );
}

/** By namespace and Bundle. Pure. */
export function newestOfEach(all: readonly BundleRollout[]): readonly BundleRollout[] {
  const newest = new Map<string, BundleRollout>();
  for (const rollout of all) {
    const key = `${rollout.metadata.namespace ?? ""}/${rollout.spec.bundle.name}`;
    if ((newest.get(key)?.spec.number ?? 0) < rollout.spec.number) newest.set(key, rollout);
  }
  return [...newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rollout]) => rollout);
}

export interface StatusOptions extends RolloutOptions, OutputOptions {
  readonly watch?: boolean;
  /** Milliseconds; absent: until it ends. */
  readonly timeout?: number;
}

/**
 * Prints the newest rollout of an app. With `watch` until it ends, and the exit code says how: 0 completed, 1 halted, taken back,
 * cancelled or superseded, 2 not known.
 */
export async function rolloutStatus(
  target: readonly string[],
  options: StatusOptions,
  config: CliConfig,
): Promise<void> {
  const { namespace, output, watch = false, timeout } = options;
  const app = parseApp(target, namespace);
  // If it fails.
  if (watch) process.exitCode = 2;
  await withHub(options, config, async (rest) => {
    if (!watch) {
      const rollout = await newestRollout(rest, app);
      if (output === "json") return printJson(rolloutJson(rollout));
      const problem = await notAcceptedProblem(rest, rollout);
      process.stdout.write(rolloutText(rollout, Date.now(), problem));
      return;
    }
    let last = "";
    const end = await watchRollout({
      rest,
      app,
      timeoutMs: timeout,
      onChange(rollout) {
        const text = textOf(rollout, output);
        if (text.sentence !== last) process.stdout.write(text.whole);
        last = text.sentence;
      },
    });
    process.exitCode = end === "completed" ? 0 : 1;
  });
}

/** `sentence`: what makes a change worth to be printed again. */
function textOf(
  rollout: BundleRollout,
  output: OutputOptions["output"],
): { readonly whole: string; readonly sentence: string } {
  const { metadata, status } = rollout;
  if (output === "json") {
    const whole = `${JSON.stringify(rolloutJson(rollout))}\n`;
    return { whole, sentence: whole };
  }
  const { phase = "", stage = "", message = "", clusters: counts } = status ?? {};
  const done = counts === undefined ? "" : `${counts.done}/${counts.total}`;
  const parts = [metadata.name, rollout.spec.version ?? "", phase, stage, done, message];
  const sentence = `${printable(parts.filter((part) => part !== "").join("  "))}\n`;
  return { whole: sentence, sentence };
}

/** An app, as far as it says whether its spec was accepted. */
type AcceptedApp = KubeObject & Pick<Bundle, "status">;

/** Why the app as it is written now is not accepted, so that its rollout goes on with what was accepted before. */
async function notAcceptedProblem(
  rest: KubeRest,
  { metadata, spec }: BundleRollout,
): Promise<string | undefined> {
  const { kind } = spec.app;
  // With Ready as the condition that says it, other reasons are there, too.
  if (!isAppKind(kind) || appDefinition(kind).blockedBy !== "Accepted") return undefined;
  const resource: Resource<AcceptedApp> = appDefinition(kind).resource;
  const { namespace = "" } = metadata;
  try {
    const app = await rest.get(resource, { namespace, name: spec.app.name });
    const accepted = findCondition(app?.status?.conditions, "Accepted");
    return accepted?.status === "False" ? accepted.message : undefined;
  } catch (thrown) {
    // Who may read rollouts may not have to read apps.
    if (!isForbidden(thrown)) throw thrown;
    return undefined;
  }
}

/** Prints the rollouts of an app that are kept, and who decided what in them. */
export async function rolloutHistoryOf(
  target: readonly string[],
  options: RolloutOptions & OutputOptions,
  config: CliConfig,
): Promise<void> {
  const app = parseApp(target, options.namespace);
  await withHub(options, config, async (rest) => {
    // Says it where there is none.
    await newestRollout(rest, app);
    const all = await readRollouts(rest, app);
    if (options.output === "json") return printJson(all.toReversed().map(rolloutJson));
    process.stdout.write(rolloutHistory(all));
  });
}

export interface ChangeOptions extends RolloutOptions {
  readonly yes?: boolean;
}

/** Throws what `changeRollout` throws, and OBJECT_NOT_FOUND for a cluster that is to be skipped. */
export async function change(
  target: readonly string[],
  asked: RolloutChange,
  options: ChangeOptions,
  config: CliConfig,
): Promise<void> {
  const app = parseApp(target, options.namespace);
  await withHub(options, config, async (rest) => {
    if (asked.kind === "skip-cluster") await assertCluster(rest, asked.cluster);
    await changeRollout({
      rest,
      app,
      change: asked,
      yes: options.yes === true,
      terminal: { input: process.stdin, output: process.stdout },
      print: (line) => void process.stdout.write(`${printable(line)}\n`),
    });
  });
}

/** A value that a request has not had: the time. */
export function newToken(): string {
  return formatTimeMs(Date.now());
}

/** The words of `flotilla rollout skip`: a cluster as NAME, cluster/NAME or NAMESPACE/NAME, and the app. Throws TARGET_INVALID. Pure. */
export function parseSkip(
  words: readonly string[],
  { namespace, stage }: { readonly namespace: string; readonly stage?: string | undefined },
): { readonly change: RolloutChange; readonly target: readonly string[] } {
  if (stage !== undefined) return { change: { kind: "skip-stage", stage }, target: words };
  const [cluster = "", ...target] = words;
  if (target.length === 0)
    throw new AppError(
      cliErrors.TARGET_INVALID,
      "name the cluster and the app, as in `flotilla rollout skip CLUSTER APP`, or a stage with --stage",
    );
  return { change: { kind: "skip-cluster", cluster: parseCluster(cluster, namespace) }, target };
}

/** A name that is misspelt would skip nothing. */
async function assertCluster(rest: KubeRest, key: string): Promise<void> {
  const [namespace = "", name = ""] = key.split("/");
  try {
    if ((await rest.get(clusters, { namespace, name })) !== undefined) return;
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    return;
  }
  throw new AppError(
    cliErrors.OBJECT_NOT_FOUND,
    `skip Cluster ${key}: not found on ${rest.server}; check its name, which may be NAMESPACE/NAME`,
  );
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
