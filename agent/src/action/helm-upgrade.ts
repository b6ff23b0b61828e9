/**
 * Runs `helm upgrade --install` with its chart and values. The run is entered into the inventory before it starts, and its
 * result at once.
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { ChartCache, UsedChart } from "@flotilla/shared/source/cache";
import type { Clock, Timer } from "@flotilla/shared/time";
import { toHelmJson } from "@flotilla/shared/yaml";
import type { Assignments } from "../assignment/index.ts";
import type { ApplyChartCrds, CrdRetention } from "../crds/index.ts";
import type { DownstreamResources } from "../downstream/index.ts";
import { agentErrors } from "../errors/index.ts";
import {
  type HelmResult,
  helmErrorOf,
  helmFailureOf,
  type ReleaseRecord,
  type Releases,
  type RunHelm,
  type StoredReleases,
  type UpgradeOptions,
  upgradeArgs,
  upgradeOptions,
} from "../helm/index.ts";
import type { Inventory } from "../inventory/index.ts";
import { ensureNamespace } from "../namespace/index.ts";
import type { WithPostRenderers } from "../postrender/index.ts";
import type { LimitRecords } from "../process/index.ts";
import type { ReadRecords } from "../record/index.ts";
import { chartAccess, type ReferencedDeps } from "../referenced/index.ts";
import type { AttemptedAction } from "../release/index.ts";
import type { CheckTemplates } from "../templates/index.ts";
import type { HelmUninstall } from "./helm-uninstall.ts";
import type { RecordGuard } from "./record-guard.ts";
import { recordFailure, recordResult } from "./record-run.ts";
import {
  type DeployUntil,
  defaultTimeoutMs,
  isFirst,
  type Prepared,
  type RevisionInputs,
  throwIfAborted,
} from "./revision.ts";

export interface UpgradeDeps extends ReferencedDeps {
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly stored: StoredReleases;
  readonly records: ReadRecords;
  readonly crds: Pick<CrdRetention, "beforeUpgrade">;
  readonly applyChartCrds: ApplyChartCrds;
  readonly uninstall: HelmUninstall;
  readonly charts: ChartCache;
  readonly checkTemplates: CheckTemplates;
  /** Called as soon as a chart will be checked. */
  readonly prepareCheck: () => void;
  readonly limitRecords: LimitRecords;
  readonly downstream: Pick<DownstreamResources, "apply">;
  readonly runHelm: RunHelm;
  readonly withPostRenderers: WithPostRenderers;
  readonly guard: RecordGuard;
  readonly inventory: Pick<
    Inventory,
    "installed" | "beginRun" | "endRun" | "revisionOf" | "createdNamespace"
  >;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a superseded run that does not wait for readiness may go on; default 10 s. */
  readonly supersededGraceMs?: number;
}

/** Such a run ends soon, unless a hook of the chart delays it. */
const defaultSupersededGraceMs = 10_000;

export type UpgradeResult =
  | { readonly kind: "done" }
  /** The chart has another name than the installed one, so the release is to be uninstalled first. Nothing was changed. */
  | { readonly kind: "reinstall" }
  /** `error`: HELM_FAILED. `hasRecord`: Helm has changed the release. */
  | {
      readonly kind: "failed";
      readonly action: AttemptedAction;
      readonly error: AppError;
      readonly hasRecord: boolean;
    };

/** Throws LIMIT_EXCEEDED, and what prevents a run. */
export type HelmUpgrade = (revision: RevisionInputs, until: DeployUntil) => Promise<UpgradeResult>;

export function createHelmUpgrade(deps: UpgradeDeps): HelmUpgrade {
  return async function upgrade(revision, pass) {
    const used: UsedChart[] = [];
    try {
      return await prepareAndRun(deps, revision, pass, used);
    } finally {
      for (const { release } of used) release();
    }
  };
}

/** The chart is added to `used`. */
async function prepareAndRun(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  pass: DeployUntil,
  used: UsedChart[],
): Promise<UpgradeResult> {
  const prepared = await prepare(deps, revision, pass, used);
  if (prepared === "reinstall") return { kind: "reinstall" };
  const runHelm = deps.withPostRenderers(revision.content, deps.runHelm);
  const result = await run({ ...deps, runHelm }, prepared, pass);
  if (result.exceeded !== undefined) {
    await recordFailure(deps, revision, prepared);
    throw await deps.limitRecords.exceeded(
      helmKey(prepared),
      `helm upgrade --install of release ${nameOf(revision)} with chart ${prepared.chart}: ${helmErrorOf(result)}; other deployments continue`,
    );
  }
  if (result.code !== 0) return await toFailure(deps, revision, prepared, result, pass);
  await recordResult(deps, revision, prepared, result);
  await deps.limitRecords.succeeded(helmKey(prepared));
  return { kind: "done" };
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
  { assignment, desired, isForced, content, revision, client, inputs }: RevisionInputs,
  { signal, superseded, withoutWorker }: DeployUntil,
  used: UsedChart[],
): Promise<Prepared | "reinstall"> {
  const { charts, assignments, releases, inventory, clock } = deps;
  const { owner, namespace, name } = desired;
  const until = AbortSignal.any([signal, superseded]);
  deps.prepareCheck();
  const { digest, values } = await inputs.final();
  deps.limitRecords.check(helmKey({ digest }));
  const { chart, checked } = await withoutWorker(async () => {
    const fetched = await charts.fetch(content.pin, chartAccess(content, deps), { signal: until });
    used.push(fetched);
    return {
      chart: fetched,
      checked: await deps.checkTemplates({ content, chart: fetched, values }),
    };
  });
  const stdin = values === undefined ? undefined : toHelmJson(values);
  // A restarted agent can only uninstall releases of stored assignments.
  await assignments.ensureStored(owner.name);
  throwIfAborted(until);
  const keep = content.deleteCRDResources !== true;
  const latest = releases.latest(namespace, name);
  const installed = latest && inventory.revisionOf(latest, latest.revision)?.chartName;
  if (mustReinstall(content, installed, checked.name) && !isFirst(latest)) return "reinstall";
  // A service account limits what Helm may delete; but nothing is rolled back to a record of somebody else.
  const options = upgradeOptions(content, isFirst(latest));
  const mustCheck = latest !== undefined && (client.isAgent || options.isAtomic);
  const { mayRollBack } = mustCheck
    ? await deps.guard.beforeUpgrade(desired, { client, isForced })
    : { mayRollBack: true };
  const rollback = keep && isFirst(latest) ? "uninstall" : mayRollBack ? "by Helm" : "no";
  const isRolledBackByHelm = options.isAtomic && rollback === "by Helm";
  const helmWaits = mustHelmWait(options, checked.hasPostHooks);
  const readyUntilMs =
    options.waits && !helmWaits
      ? clock.now() + (options.timeoutSeconds * 1_000 || defaultTimeoutMs)
      : undefined;
  await deps.crds.beforeUpgrade(desired, { keep, client, signal });
  const run = {
    namespace,
    release: name,
    revision,
    rollsBack: isRolledBackByHelm,
    ...(readyUntilMs !== undefined && { readyUntilMs }),
    digest,
    ...(inputs.origin !== undefined && { origin: inputs.origin }),
    chartDigest: chart.digest,
  };
  await inventory.beginRun(owner, run, assignment.request?.token);
  if (options.createsNamespace) {
    const created = await ensureNamespace(client, namespace, signal);
    if (created !== undefined) await inventory.createdNamespace(owner.name, created);
  }
  if (mustApplyCrds(options, latest))
    await deps.applyChartCrds({
      ...{ release: desired, owner: owner.name, chart, values: stdin, client, signal: until },
      replace: options.crds === "CreateReplace",
    });
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
    // With --rollback-on-failure it waits by itself.
    waits: helmWaits && !isRolledBackByHelm,
  });
  return {
    chart: `${checked.name}@${checked.version}`,
    args: [...args, ...client.helmArgs],
    stdin,
    digest,
    chartDigest: chart.digest,
    options,
    action: isFirst(latest) ? "install" : "upgrade",
    rollback,
    helmWaits,
    readyUntilMs,
  };
}

/** While Helm waits, it occupies a process; the agent waits for nothing. But what Helm does afterwards the agent cannot do. */
function mustHelmWait(
  { waits, isAtomic, cleansUp, runsHooks }: UpgradeOptions,
  hasPostHooks: boolean,
): boolean {
  return isAtomic || (waits && (cleansUp || (runsHooks && hasPostHooks)));
}

/** Helm itself creates them with an installation, and never replaces them. */
function mustApplyCrds({ crds }: UpgradeOptions, latest: ReleaseRecord | undefined): boolean {
  return crds === "CreateReplace" || (crds === "Create" && !isFirst(latest));
}

function mustReinstall(
  { actions }: DeploymentContent,
  installed: string | undefined,
  desired: string,
): boolean {
  const isRenamed = installed !== undefined && installed !== desired;
  return isRenamed && actions?.upgrade?.chartNameChangeStrategy === "Reinstall";
}

async function run(
  { runHelm, clock, supersededGraceMs = defaultSupersededGraceMs }: UpgradeDeps,
  { args, stdin, helmWaits }: Prepared,
  { signal, superseded }: DeployUntil,
): Promise<HelmResult> {
  const graceMs = helmWaits ? 0 : supersededGraceMs;
  const late = abortLater(superseded, graceMs, clock);
  return await runHelm({
    args,
    // With `atomic` Helm rolls back first, and is killed if that takes too long.
    signal: AbortSignal.any([signal, late.signal]),
    ...(stdin !== undefined && { stdin }),
  }).finally(late.cancel);
}

async function toFailure(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  result: HelmResult,
  pass: DeployUntil,
): Promise<UpgradeResult> {
  const { inputs } = revision;
  const record = await recordFailure(deps, revision, prepared);
  const { rollback, options, action } = prepared;
  const mustUninstall = options.isAtomic && rollback === "uninstall" && !pass.signal.aborted;
  const rolledBack =
    mustUninstall && record !== undefined
      ? await rollBack(deps, record, { ...revision, options }, pass)
      : options.isAtomic && rollback === "no"
        ? "; it was not rolled back, although atomic is set, because this agent did not create the revision before"
        : "";
  const error = new AppError(
    agentErrors.HELM_FAILED,
    `helm upgrade --install of release ${nameOf(revision)} with chart ${prepared.chart}: ${inputs.redact(`${helmFailureOf(result)}${rolledBack}`)}`,
  );
  const hasRecord = record !== undefined && record.revision >= revision.revision;
  return { kind: "failed", action, error, hasRecord };
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
