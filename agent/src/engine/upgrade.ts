/** Runs `helm upgrade --install` with its chart and values, under a journal entry, and records its result at once. */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { ReconcileContext } from "@flotilla/shared/kube/controller";
import type { Log } from "@flotilla/shared/log";
import type { ChartCache } from "@flotilla/shared/source/cache";
import type { Clock, Timer } from "@flotilla/shared/time";
import { toHelmJson } from "@flotilla/shared/yaml";
import type { Assignments } from "../assignment/index.ts";
import type { CrdRetention } from "../crds/index.ts";
import type { DownstreamResources } from "../downstream/index.ts";
import { agentErrors } from "../errors/index.ts";
import {
  type HelmResult,
  helmErrorOf,
  isLocked,
  parseRelease,
  type ReleaseRecord,
  type Releases,
  type RunHelm,
  type RunJournal,
  type StoredReleases,
  upgradeArgs,
} from "../helm/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import { ensureNamespace } from "../namespace/index.ts";
import { chartAccess, type ReferencedDeps } from "../referenced/index.ts";
import type { Desired } from "../release/index.ts";
import type { CheckTemplates } from "../templates/index.ts";
import type { ReleaseInputs } from "../values/index.ts";
import type { Uninstall } from "./uninstall.ts";

export interface UpgradeDeps extends ReferencedDeps {
  /** The agent's own. */
  readonly rest: KubeRest;
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly stored: StoredReleases;
  readonly crds: Pick<CrdRetention, "beforeUpgrade">;
  readonly uninstall: Uninstall;
  readonly charts: ChartCache;
  readonly checkTemplates: CheckTemplates;
  readonly downstream: Pick<DownstreamResources, "apply">;
  readonly runHelm: RunHelm;
  readonly journal: RunJournal;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a superseded run that does not wait for readiness may go on; default 10 s. */
  readonly supersededGraceMs?: number;
}

/** Such a run ends soon, unless a hook of the chart delays it. */
const defaultSupersededGraceMs = 10_000;

export interface DeployUntil {
  /** Aborts when the process ends. */
  readonly signal: AbortSignal;
  /** Aborts when another content is desired: the agent does not wait for Helm. */
  readonly superseded: AbortSignal;
  /** Runs I/O without occupying a worker. */
  readonly withoutWorker: ReconcileContext["withoutWorker"];
}

/** A revision to be created. */
export interface RevisionInputs {
  readonly desired: Desired;
  readonly content: DeploymentContent;
  readonly revision: number;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

/** Throws HELM_FAILED with Helm's error. */
export type Upgrade = (revision: RevisionInputs, until: DeployUntil) => Promise<void>;

/** A revision that is ready to be passed to Helm. */
interface Prepared {
  readonly args: readonly string[];
  readonly stdin: string | undefined;
  readonly digest: string;
  readonly chartDigest: string;
  /** Helm rolls back by itself if it fails. */
  readonly isRolledBackByHelm: boolean;
}

export function createUpgrade(deps: UpgradeDeps): Upgrade {
  return async function upgrade(revision, pass) {
    const prepared = await prepare(deps, revision, pass);
    const result = await run(deps, revision, prepared, pass);
    if (result.code !== 0) throw await toHelmError(deps, revision, prepared, result, pass);
    await recordResult(deps, revision, prepared, result);
  };
}

/** All steps before Helm runs. */
async function prepare(
  deps: UpgradeDeps,
  { desired, content, revision, client, inputs }: RevisionInputs,
  { signal, superseded, withoutWorker }: DeployUntil,
): Promise<Prepared> {
  const { charts, assignments, releases, journal } = deps;
  const { owner, namespace, name } = desired;
  const until = AbortSignal.any([signal, superseded]);
  const chart = await withoutWorker(() =>
    charts.fetch(content.pin, chartAccess(content, deps), { signal: until }),
  );
  const { digest, values } = await inputs.final();
  await deps.checkTemplates({ content, chart, values });
  const stdin = values === undefined ? undefined : toHelmJson(values);
  // A restarted agent can only uninstall releases of stored assignments.
  await assignments.ensureStored(owner.name);
  throwIfAborted(until);
  const keep = content.deleteCRDResources !== true;
  const isRolledBackByHelm = !(keep && isFirst(releases.latest(namespace, name)));
  await deps.crds.beforeUpgrade(desired, { keep, client, signal });
  await journal.begin({
    deployment: owner.name,
    namespace,
    release: name,
    revision,
    rollsBack: content.helm.atomic && isRolledBackByHelm,
  });
  if (content.createNamespace && revision === 1)
    await ensureNamespace({ client, own: deps.rest }, namespace, signal);
  await deps.downstream.apply(inputs.downstream, { owner: owner.name, namespace, client, signal });
  const args = upgradeArgs({
    content,
    hasValues: stdin !== undefined,
    owner,
    digest,
    origin: inputs.origin,
    revision,
    chartPath: chart.path,
    chartDigest: chart.digest,
    isRolledBackByHelm,
  });
  return {
    args: [...args, ...client.helmArgs],
    stdin,
    digest,
    chartDigest: chart.digest,
    isRolledBackByHelm,
  };
}

async function run(
  { runHelm, journal, clock, supersededGraceMs = defaultSupersededGraceMs }: UpgradeDeps,
  { desired: { owner }, content }: RevisionInputs,
  { args, stdin }: Prepared,
  { signal, superseded }: DeployUntil,
): Promise<HelmResult> {
  let recorded: Promise<void> = Promise.resolve();
  const graceMs = content.helm.timeoutSeconds > 0 ? 0 : supersededGraceMs;
  const late = abortLater(superseded, graceMs, clock);
  const result = await runHelm({
    args,
    // With `atomic` Helm rolls back first, and is killed if that takes too long.
    signal: AbortSignal.any([signal, late.signal]),
    ...(stdin !== undefined && { stdin }),
    onStart: (pid) => {
      recorded = journal.started(owner.name, pid);
      // It is awaited after Helm has ended.
      recorded.catch(() => undefined);
    },
  }).finally(late.cancel);
  await recorded;
  return result;
}

async function recordResult(
  { stored, releases, journal, log }: UpgradeDeps,
  { desired: { owner, namespace, name }, inputs }: RevisionInputs,
  { digest, chartDigest }: Prepared,
  result: HelmResult,
): Promise<void> {
  const release = parseRelease(result.stdout, `helm's output for ${namespace}/${name}`);
  stored.printed(release);
  releases.ran({
    namespace: release.namespace,
    name: release.name,
    revision: release.revision,
    status: release.status,
    owner,
    digest,
    ...(inputs.origin !== undefined && { origin: inputs.origin }),
    chartDigest,
    isOwn: true,
  });
  await journal.end(owner.name);
  log.info(
    { deployment: owner.name, release: name, namespace, revision: release.revision },
    "release installed",
  );
}

async function toHelmError(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  { isRolledBackByHelm }: Prepared,
  result: HelmResult,
  pass: DeployUntil,
): Promise<AppError> {
  const { desired, content, inputs } = revision;
  const record = await recordFailure(deps, revision);
  const mustRollBack = content.helm.atomic && !isRolledBackByHelm && !pass.signal.aborted;
  const rolledBack =
    mustRollBack && record !== undefined ? await rollBack(deps, record, revision, pass) : "";
  return new AppError(
    agentErrors.HELM_FAILED,
    `helm upgrade --install of release ${desired.namespace}/${desired.name}: ${inputs.redact(`${helmErrorOf(result)}${rolledBack}`)}`,
  );
}

/** The release record that a failed run has written, if any. If it cannot be read, the watch delivers it later. */
async function recordFailure(
  { stored, releases, journal }: UpgradeDeps,
  { desired: { owner, ...release }, content, revision }: RevisionInputs,
): Promise<ReleaseRecord | undefined> {
  // With `atomic` Helm has created another revision, to roll back.
  const revisions = content.helm.atomic ? [revision, revision + 1] : [revision];
  const found = await Promise.all(revisions.map((each) => stored.recordAt(release, each))).catch(
    () => undefined,
  );
  const latest = found?.findLast((record) => record !== undefined);
  // A withdrawal or another content that follows at once needs it.
  if (latest !== undefined) releases.ran(latest);
  // The journal entry identifies a lock of the failed run as the agent's own.
  if (found !== undefined && (latest === undefined || !isLocked(latest)))
    await journal.end(owner.name);
  return latest;
}

/**
 * Uninstalls a failed first install, as Helm itself does with `atomic`. But Helm would delete definitions that must stay and
 * that may be older than the release. Returns the continuation of the error message.
 */
async function rollBack(
  { uninstall, clock, supersededGraceMs = defaultSupersededGraceMs }: UpgradeDeps,
  record: ReleaseRecord,
  { client, content }: RevisionInputs,
  { signal, superseded }: DeployUntil,
): Promise<string> {
  const late = abortLater(superseded, supersededGraceMs, clock);
  try {
    await uninstall(record, {
      keep: true,
      client,
      signal: AbortSignal.any([signal, late.signal]),
      ...(!superseded.aborted && { waitSeconds: content.helm.timeoutSeconds }),
    });
    return "; the failed release was uninstalled, as atomic is set";
  } catch (thrown) {
    return `; the failed release could not be uninstalled, although atomic is set: ${messageOf(thrown)}`;
  } finally {
    late.cancel();
  }
}

/** Whether Helm installs instead of upgrading. */
function isFirst(latest: ReleaseRecord | undefined): boolean {
  return latest === undefined || latest.status === "uninstalled";
}

/** Aborts this long after `signal` has, unless it is cancelled before. */
function abortLater(
  signal: AbortSignal,
  delayMs: number,
  clock: Clock,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const late = new AbortController();
  let timer: Timer | undefined;
  const start = (): void => {
    if (delayMs === 0) late.abort();
    else timer = clock.setTimeout(() => late.abort(), delayMs);
  };
  if (signal.aborted) start();
  else signal.addEventListener("abort", start, { once: true });
  return {
    signal: late.signal,
    cancel: () => {
      signal.removeEventListener("abort", start);
      timer?.cancel();
    },
  };
}

/** Throws CANCELLED. */
export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new AppError(commonErrors.CANCELLED, "cancelled: another content is desired now");
}
