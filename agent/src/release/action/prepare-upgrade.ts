/**
 * All that precedes `helm upgrade --install`: the chart is fetched and checked, how it is applied is decided, and the run is entered
 * into the inventory.
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { describePin } from "@flotilla/shared/source";
import type { ChartCache, UsedChart } from "@flotilla/shared/source/cache";
import type { Clock } from "@flotilla/shared/time";
import type { Values } from "@flotilla/shared/values";
import { toHelmJson } from "@flotilla/shared/yaml";
import type { LimitRecords } from "../../base/index.ts";
import {
  type ApplyChartCrds,
  type CheckTemplates,
  type CrdRetention,
  ensureNamespace,
  markNamespace,
  type ReadRecords,
  type ReleaseRecord,
  type Releases,
  type RunHelm,
  type StoredReleases,
  type UpgradeOptions,
  upgradeArgs,
  type WithPostRenderers,
  withOptions,
} from "../../helm/index.ts";
import type { DownstreamResources } from "../../inputs/index.ts";
import type { FetchedSources } from "../../observe/index.ts";
import {
  type Assignments,
  type Attempts,
  chartAccess,
  type Inventory,
  type InventoryRun,
  type ReferencedDeps,
} from "../../state/index.ts";
import { type ApplyPlan, mayTakeFields, planApply } from "./apply-notes.ts";
import type { HelmUninstall } from "./helm-uninstall.ts";
import type { RecordGuard } from "./record-guard.ts";
import { releasesBefore } from "./repair-lists.ts";
import {
  type DeployUntil,
  defaultTimeoutMs,
  isFirst,
  type Prepared,
  type RevisionInputs,
  throwIfAborted,
  type UpgradeResult,
} from "./revision.ts";

export interface UpgradeDeps extends ReferencedDeps {
  readonly assignments: Pick<Assignments, "ensureStored">;
  readonly releases: Releases;
  readonly stored: StoredReleases;
  readonly records: ReadRecords;
  readonly crds: Pick<CrdRetention, "beforeUpgrade">;
  readonly applyChartCrds: ApplyChartCrds;
  readonly uninstall: HelmUninstall;
  readonly charts: Pick<ChartCache, "fetch">;
  readonly sources: Pick<FetchedSources, "set">;
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
    "installed" | "revisionOf" | "releasesOf" | "createdNamespace" | "namespacesOf"
  >;
  readonly attempts: Pick<
    Attempts,
    "beginRun" | "endRun" | "refusedOf" | "setRefused" | "setAttempt"
  >;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a superseded run that does not wait for readiness may go on; default 10 s. */
  readonly supersededGraceMs?: number;
}

interface CheckedChart {
  readonly chart: UsedChart;
  readonly checked: Awaited<ReturnType<CheckTemplates>>;
}

/** Without occupying a worker. The chart is added to `used`. */
async function fetchChart(
  deps: UpgradeDeps,
  { assignment, content, desired }: RevisionInputs,
  values: Values | undefined,
  { until, used }: { readonly until: AbortSignal; readonly used: UsedChart[] },
): Promise<CheckedChart> {
  const chart = await deps.charts.fetch(content.pin, chartAccess(content, deps), {
    signal: until,
    sources: assignment.sources,
  });
  used.push(chart);
  deps.sources.set(desired.owner, chart.source);
  return { chart, checked: await deps.checkTemplates({ content, chart, values }) };
}

/** What the inventory has of the run until it has ended. */
function runOf(
  { assignment, desired, revision, inputs, reasons }: RevisionInputs,
  run: Omit<InventoryRun, "namespace" | "release" | "revision" | "reasons" | "origin" | "request">,
): InventoryRun {
  const { request } = assignment;
  return {
    ...run,
    namespace: desired.namespace,
    release: desired.name,
    revision,
    reasons: [...reasons],
    ...(inputs.origin !== undefined && { origin: inputs.origin }),
    ...(reasons.includes("Requested") && request !== undefined && { request: request.token }),
  };
}

/** All steps before Helm runs. */
export async function prepareUpgrade(
  deps: UpgradeDeps,
  revisionInputs: RevisionInputs,
  { signal, superseded, withoutWorker }: DeployUntil,
  used: UsedChart[],
): Promise<Prepared | UpgradeResult> {
  const { assignment, desired, content, revision, client, inputs } = revisionInputs;
  const { assignments, releases, inventory, attempts, clock } = deps;
  const { owner, namespace, name } = desired;
  const until = AbortSignal.any([signal, superseded]);
  deps.prepareCheck();
  const { digest, parts, values } = await inputs.final();
  deps.limitRecords.check(helmKey({ digest }));
  const { chart, checked } = await withoutWorker(() =>
    fetchChart(deps, revisionInputs, values, { until, used }),
  );
  const stdin = values === undefined ? undefined : toHelmJson(values);
  // A restarted agent can only uninstall releases of stored assignments.
  await assignments.ensureStored(owner.name);
  throwIfAborted(until);
  const keep = content.deleteCRDResources !== true;
  const latest = releases.latest(namespace, name);
  const installed = latest && inventory.revisionOf(latest, latest.revision)?.chartName;
  if (mustReinstall(content, installed, checked.name) && !isFirst(latest))
    return { kind: "reinstall" };
  const { options, notes } = await planRun(deps, revisionInputs, { digest, latest });
  const rollback = await rollbackBy(deps, revisionInputs, { latest, options, keep, signal });
  const isRolledBackByHelm = options.isAtomic && rollback === "by Helm";
  const helmWaits = mustHelmWait(options, checked.hasPostHooks);
  const agentWaits = options.waits && !helmWaits;
  const readyUntilMs = agentWaits ? clock.now() + waitMs(options) : undefined;
  await deps.crds.beforeUpgrade(desired, { keep, client, signal });
  const before = await releasesBefore(deps, latest, options);
  const run = runOf(revisionInputs, {
    rollsBack: isRolledBackByHelm,
    ...(readyUntilMs !== undefined && { readyUntilMs }),
    digest,
    parts,
    chartDigest: chart.digest,
    ...(notes !== undefined && { notes }),
    ...(before !== undefined && { isClientSide: true }),
  });
  const action = isFirst(latest) ? "install" : "upgrade";
  await attempts.beginRun(owner, run, assignment);
  const applied = { options, latest, chart, values: stdin, signal, until };
  const error = await applyBefore(deps, revisionInputs, applied);
  if (error !== undefined) return { kind: "failed", action, error, hasRecord: false };
  await deps.downstream.apply(inputs.downstream, { owner: owner.id, namespace, client, signal });
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
    // A chart without a readable Chart.yaml has no name.
    chart: checked.name === "" ? describePin(content.pin) : `${checked.name}@${checked.version}`,
    args: withOptions(client.helmArgs, args),
    stdin,
    digest,
    parts,
    chartDigest: chart.digest,
    options,
    ...(notes !== undefined && { notes }),
    ...(before !== undefined && { before }),
    action,
    rollback,
    helmWaits,
    readyUntilMs,
  };
}

interface AppliedBefore {
  readonly options: UpgradeOptions;
  readonly latest: ReleaseRecord | undefined;
  readonly chart: UsedChart;
  /** As Helm gets them. */
  readonly values: string | undefined;
  readonly signal: AbortSignal;
  readonly until: AbortSignal;
}

/**
 * The namespace of the release, and definitions of the chart. Returns why not: in Flux both are of the action of Helm, which fails
 * by them.
 */
async function applyBefore(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  { options, latest, chart, values, signal, until }: AppliedBefore,
): Promise<AppError | undefined> {
  const { desired, client } = revision;
  try {
    await prepareNamespace(deps, revision, options, signal);
    if (mustApplyCrds(options, latest))
      await deps.applyChartCrds({
        release: desired,
        owner: desired.owner.name,
        chart,
        values,
        client,
        signal: until,
        replace: options.crds === "CreateReplace",
      });
    return undefined;
  } catch (thrown) {
    return AppError.from(thrown);
  }
}

/** A service account limits what Helm may delete; but nothing is rolled back to a record of somebody else. */
async function rollbackBy(
  { guard }: Pick<UpgradeDeps, "guard">,
  { desired, client, isForced }: RevisionInputs,
  {
    latest,
    options,
    keep,
    signal,
  }: {
    readonly latest: ReleaseRecord | undefined;
    readonly options: UpgradeOptions;
    readonly keep: boolean;
    readonly signal: AbortSignal;
  },
): Promise<Prepared["rollback"]> {
  const mustCheck = latest !== undefined && (client.isAgent || options.isAtomic);
  const { mayRollBack } = mustCheck
    ? await guard.beforeUpgrade(desired, { client, isForced, signal })
    : { mayRollBack: true };
  if (keep && isFirst(latest)) return "uninstall";
  return mayRollBack ? "by Helm" : "no";
}

/** How the release is applied, and what a run that a user has requested does beyond that. */
async function planRun(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  found: { readonly digest: string; readonly latest: ReleaseRecord | undefined },
): Promise<ApplyPlan> {
  const plan = planApply(deps, revision, found);
  const { latest } = found;
  if (!revision.isForced) return plan;
  const isInstall = latest === undefined || isFirst(latest);
  const applyMethod = isInstall ? undefined : (await deps.stored.read(latest)).applyMethod;
  if (!mayTakeFields(plan.options, { isInstall, applyMethod })) return plan;
  const taken = revision.takenFields;
  return {
    options: { ...plan.options, takesFields: true },
    ...((plan.notes !== undefined || taken.length > 0) && {
      notes: { ...plan.notes, ...(taken.length > 0 && { taken: [...taken] }) },
    }),
  };
}

/** Helm imports a namespace that a chart contains only if it has the marks of the release. */
async function prepareNamespace(
  { inventory }: Pick<UpgradeDeps, "inventory">,
  { desired, client }: RevisionInputs,
  { createsNamespace }: UpgradeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { owner, namespace } = desired;
  const created = createsNamespace ? await ensureNamespace(client, desired, signal) : undefined;
  if (created !== undefined) return await inventory.createdNamespace(owner.id, created);
  const known = inventory.namespacesOf(owner.id).find(({ name }) => name === namespace);
  if (known === undefined || known.isMarked === true) return;
  await markNamespace(client, known, desired, signal);
  await inventory.createdNamespace(owner.id, { ...known, isMarked: true });
}

function waitMs({ timeoutSeconds }: UpgradeOptions): number {
  return timeoutSeconds * 1_000 || defaultTimeoutMs;
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

/** Whether the release is uninstalled first, because the chart has another name than the installed one. */
export function mustReinstall(
  { actions }: DeploymentContent,
  installed: string | undefined,
  desired: string,
): boolean {
  const isRenamed = installed !== undefined && installed !== desired;
  return isRenamed && actions?.upgrade?.chartNameChangeStrategy === "Reinstall";
}

/** Identifies the record of a failure: the release digest covers the chart and all values, so nobody else's release is concerned. */
export function helmKey({ digest }: Pick<Prepared, "digest">): string {
  return `helm ${digest}`;
}
