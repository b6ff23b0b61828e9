/**
 * Runs `helm upgrade --install` with its chart and values. The run is entered into the inventory before it starts, and its
 * result at once.
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors";
import type { ReconcileContext } from "@flotilla/shared/kube/controller";
import type { Log } from "@flotilla/shared/log";
import type { ChartCache } from "@flotilla/shared/source/cache";
import type { Clock, Timer } from "@flotilla/shared/time";
import { toHelmJson } from "@flotilla/shared/yaml";
import type { Assignment, Assignments } from "../assignment/index.ts";
import type { CrdRetention } from "../crds/index.ts";
import type { DownstreamResources } from "../downstream/index.ts";
import { agentErrors } from "../errors/index.ts";
import {
  type HelmResult,
  helmErrorOf,
  isLocked,
  type ReleaseRecord,
  type Releases,
  type RunHelm,
  type StoredReleases,
  type UpgradeOptions,
  upgradeArgs,
  upgradeOptions,
} from "../helm/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import type { Inventory } from "../inventory/index.ts";
import { ensureNamespace } from "../namespace/index.ts";
import type { LimitRecords } from "../process/index.ts";
import type { HelmRelease, ReadRecords } from "../record/index.ts";
import { chartAccess, type ReferencedDeps } from "../referenced/index.ts";
import type { Desired } from "../release/index.ts";
import type { CheckTemplates } from "../templates/index.ts";
import type { ReleaseInputs } from "../values/index.ts";
import { inventoryRelease } from "./claims.ts";
import type { RecordGuard } from "./record-guard.ts";
import type { Uninstall } from "./uninstall.ts";

export interface UpgradeDeps extends ReferencedDeps {
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly stored: StoredReleases;
  readonly records: ReadRecords;
  readonly crds: Pick<CrdRetention, "beforeUpgrade">;
  readonly uninstall: Uninstall;
  readonly charts: ChartCache;
  readonly checkTemplates: CheckTemplates;
  /** Called as soon as a chart will be checked. */
  readonly prepareCheck: () => void;
  readonly limitRecords: LimitRecords;
  readonly downstream: Pick<DownstreamResources, "apply">;
  readonly runHelm: RunHelm;
  readonly guard: RecordGuard;
  readonly inventory: Pick<Inventory, "installed" | "beginRun" | "endRun">;
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
  readonly assignment: Assignment;
  readonly desired: Desired;
  readonly isForced: boolean;
  readonly content: DeploymentContent;
  readonly revision: number;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

/** Throws HELM_FAILED with Helm's error, and LIMIT_EXCEEDED. */
export type Upgrade = (revision: RevisionInputs, until: DeployUntil) => Promise<void>;

/** A revision that is ready to be passed to Helm. */
interface Prepared {
  readonly args: readonly string[];
  readonly stdin: string | undefined;
  readonly digest: string;
  readonly chartDigest: string;
  readonly options: UpgradeOptions;
  /** With `atomic`: Helm rolls back by itself, or the agent uninstalls a failed first install. `no`: not possible. */
  readonly rollback: "by Helm" | "uninstall" | "no";
}

export function createUpgrade(deps: UpgradeDeps): Upgrade {
  return async function upgrade(revision, pass) {
    const prepared = await prepare(deps, revision, pass);
    const result = await run(deps, prepared, pass);
    if (result.exceeded !== undefined) {
      await recordFailure(deps, revision, prepared);
      throw await deps.limitRecords.exceeded(
        helmKey(prepared),
        `helm upgrade --install of release ${nameOf(revision)}: ${helmErrorOf(result)}; other deployments continue`,
      );
    }
    if (result.code !== 0) throw await toHelmError(deps, revision, prepared, result, pass);
    await recordResult(deps, revision, prepared, result);
  };
}

/** Of the record of a failure: the release digest covers the chart and all values, so nobody else's release is concerned. */
function helmKey({ digest }: Pick<Prepared, "digest">): string {
  return `helm ${digest}`;
}

function nameOf({ desired: { namespace, name } }: RevisionInputs): string {
  return `${namespace}/${name}`;
}

/** All steps before Helm runs. */
async function prepare(
  deps: UpgradeDeps,
  { desired, isForced, content, revision, client, inputs }: RevisionInputs,
  { signal, superseded, withoutWorker }: DeployUntil,
): Promise<Prepared> {
  const { charts, assignments, releases, inventory } = deps;
  const { owner, namespace, name } = desired;
  const until = AbortSignal.any([signal, superseded]);
  deps.prepareCheck();
  const { digest, values } = await inputs.final();
  deps.limitRecords.check(helmKey({ digest }));
  const chart = await withoutWorker(async () => {
    const fetched = await charts.fetch(content.pin, chartAccess(content, deps), { signal: until });
    await deps.checkTemplates({ content, chart: fetched, values });
    return fetched;
  });
  const stdin = values === undefined ? undefined : toHelmJson(values);
  // A restarted agent can only uninstall releases of stored assignments.
  await assignments.ensureStored(owner.name);
  throwIfAborted(until);
  const keep = content.deleteCRDResources !== true;
  const latest = releases.latest(namespace, name);
  // A service account limits what Helm may delete; but nothing is rolled back to a record of somebody else.
  const mustCheck = latest !== undefined && (client.isAgent || content.helm.atomic);
  const { mayRollBack } = mustCheck
    ? await deps.guard.beforeUpgrade(desired, { client, isForced })
    : { mayRollBack: true };
  const options = upgradeOptions(content, isFirst(latest));
  const rollback = keep && isFirst(latest) ? "uninstall" : mayRollBack ? "by Helm" : "no";
  const isRolledBackByHelm = rollback === "by Helm";
  await deps.crds.beforeUpgrade(desired, { keep, client, signal });
  await inventory.beginRun(owner, {
    namespace,
    release: name,
    revision,
    rollsBack: content.helm.atomic && isRolledBackByHelm,
    digest,
    ...(inputs.origin !== undefined && { origin: inputs.origin }),
    chartDigest: chart.digest,
  });
  if (options.createsNamespace) await ensureNamespace(client, namespace, signal);
  await deps.downstream.apply(inputs.downstream, { owner: owner.name, namespace, client, signal });
  const args = upgradeArgs({
    content,
    options,
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
    options,
    rollback,
  };
}

async function run(
  { runHelm, clock, supersededGraceMs = defaultSupersededGraceMs }: UpgradeDeps,
  { args, stdin, options }: Prepared,
  { signal, superseded }: DeployUntil,
): Promise<HelmResult> {
  const graceMs = options.waits ? 0 : supersededGraceMs;
  const late = abortLater(superseded, graceMs, clock);
  return await runHelm({
    args,
    // With `atomic` Helm rolls back first, and is killed if that takes too long.
    signal: AbortSignal.any([signal, late.signal]),
    ...(stdin !== undefined && { stdin }),
  }).finally(late.cancel);
}

async function recordResult(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  result: HelmResult,
): Promise<void> {
  const { stored, records, releases, limitRecords, log } = deps;
  const { owner, namespace, name } = revision.desired;
  const { inputs } = revision;
  const { digest, chartDigest } = prepared;
  const release = await records.printed(
    result.stdout,
    `helm's output for release ${namespace}/${name}`,
  );
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
  await enter(deps, revision, prepared, { release, endsRun: true });
  await limitRecords.succeeded(helmKey({ digest }));
  log.info(
    { deployment: owner.name, release: name, namespace, revision: release.revision },
    "release installed",
  );
}

/** Enters a revision that the agent created into the inventory. */
async function enter(
  { inventory, releases }: Pick<UpgradeDeps, "inventory" | "releases">,
  { assignment, desired, content, inputs }: RevisionInputs,
  { digest, chartDigest }: Prepared,
  { release, endsRun }: { readonly release: HelmRelease; readonly endsRun: boolean },
): Promise<void> {
  await inventory.installed(desired.owner.name, inventoryRelease(assignment, content), {
    added: [
      {
        revision: release.revision,
        content: release.content,
        digest,
        ...(inputs.origin !== undefined && { origin: inputs.origin }),
        chartDigest,
      },
    ],
    kept: releases.history(desired.namespace, desired.name).map(({ revision }) => revision),
    endsRun,
  });
}

async function toHelmError(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  result: HelmResult,
  pass: DeployUntil,
): Promise<AppError> {
  const { content, inputs } = revision;
  const record = await recordFailure(deps, revision, prepared);
  const { rollback, options } = prepared;
  const mustUninstall = content.helm.atomic && rollback === "uninstall" && !pass.signal.aborted;
  const rolledBack =
    mustUninstall && record !== undefined
      ? await rollBack(deps, record, { ...revision, options }, pass)
      : content.helm.atomic && rollback === "no"
        ? "; it was not rolled back, although atomic is set, because this agent did not create the revision before"
        : "";
  return new AppError(
    agentErrors.HELM_FAILED,
    `helm upgrade --install of release ${nameOf(revision)}: ${inputs.redact(`${helmErrorOf(result)}${rolledBack}`)}`,
  );
}

/** The release record that a failed run has written, if any. If it cannot be read, the watch delivers it later. */
async function recordFailure(
  deps: UpgradeDeps,
  inputs: RevisionInputs,
  prepared: Prepared,
): Promise<ReleaseRecord | undefined> {
  const { stored, releases, inventory } = deps;
  const { desired, content, revision } = inputs;
  const { owner, ...release } = desired;
  // With `atomic` Helm has created another revision, to roll back.
  const revisions = content.helm.atomic ? [revision, revision + 1] : [revision];
  const found = await Promise.all(revisions.map((each) => stored.recordAt(release, each))).catch(
    () => undefined,
  );
  const latest = found?.findLast((record) => record !== undefined);
  // A withdrawal or another content that follows at once needs it.
  if (latest !== undefined) {
    releases.ran(latest);
    await enterFailure(deps, inputs, prepared, latest);
  }
  // The run identifies a lock that it left as the agent's own. Most often it has ended with the write above.
  if (found !== undefined && (latest === undefined || !isLocked(latest)))
    await inventory.endRun(owner.name);
  return latest;
}

/** Helm prints nothing when it fails, so the record is read; one of another Helm client is not the agent's. */
async function enterFailure(
  deps: UpgradeDeps,
  inputs: RevisionInputs,
  prepared: Prepared,
  latest: ReleaseRecord,
): Promise<void> {
  const { assignment, desired, content, revision } = inputs;
  const isRollback = latest.revision === revision + 1;
  if (!isRollback && (!latest.isOwn || latest.owner?.uid !== desired.owner.uid)) return;
  deps.stored.forget(desired);
  const release = await deps.stored.read(latest);
  const endsRun = !isLocked(latest);
  if (!isRollback) return await enter(deps, inputs, prepared, { release, endsRun });
  await deps.inventory.installed(desired.owner.name, inventoryRelease(assignment, content), {
    added: [{ revision: latest.revision, content: release.content }],
    kept: deps.releases.history(desired.namespace, desired.name).map(({ revision }) => revision),
    endsRun,
  });
}

/**
 * Uninstalls a failed first install, as Helm itself does with `atomic`. But Helm would delete definitions that must stay and
 * that may be older than the release. Returns the continuation of the error message.
 */
async function rollBack(
  { uninstall, clock, supersededGraceMs = defaultSupersededGraceMs }: UpgradeDeps,
  record: ReleaseRecord,
  { client, options }: Pick<RevisionInputs, "client"> & Pick<Prepared, "options">,
  { signal, superseded }: DeployUntil,
): Promise<string> {
  const late = abortLater(superseded, supersededGraceMs, clock);
  try {
    await uninstall(record, {
      keep: true,
      isForced: false,
      client,
      signal: AbortSignal.any([signal, late.signal]),
      ...(!superseded.aborted && { flags: { waitSeconds: options.timeoutSeconds } }),
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
