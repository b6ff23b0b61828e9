/**
 * Runs `helm upgrade --install` with its chart and values. The run is entered into the inventory before it starts, and its
 * result at once.
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { describePin } from "@flotilla/shared/source";
import type { ChartCache, UsedChart } from "@flotilla/shared/source/cache";
import type { Clock } from "@flotilla/shared/time";
import { toHelmJson } from "@flotilla/shared/yaml";
import type { Assignments } from "../assignment/index.ts";
import type { ApplyChartCrds, CrdRetention } from "../crds/index.ts";
import type { DownstreamResources } from "../downstream/index.ts";
import {
  type HelmResult,
  helmErrorOf,
  type ReleaseRecord,
  type Releases,
  type RunHelm,
  type StoredReleases,
  type UpgradeOptions,
  upgradeArgs,
  withOptions,
} from "../helm/index.ts";
import type { Attempts, Inventory } from "../inventory/index.ts";
import { ensureNamespace, markNamespace } from "../namespace/index.ts";
import type { WithPostRenderers } from "../postrender/index.ts";
import type { LimitRecords } from "../process/index.ts";
import type { ReadRecords } from "../record/index.ts";
import { chartAccess, type ReferencedDeps } from "../referenced/index.ts";
import type { FetchedSources } from "../report/index.ts";
import type { CheckTemplates } from "../templates/index.ts";
import { abortLater } from "./abort-later.ts";
import { type ApplyPlan, mayTakeFields, planApply } from "./apply-notes.ts";
import { watchLongRun } from "./attempts.ts";
import type { HelmUninstall } from "./helm-uninstall.ts";
import type { RecordGuard } from "./record-guard.ts";
import { printedRelease, recordFailure, recordResult } from "./record-run.ts";
import { isAppliedByClient, releasesBefore, repairLists } from "./repair-lists.ts";
import {
  type DeployUntil,
  defaultTimeoutMs,
  isFirst,
  type Prepared,
  type RevisionInputs,
  throwIfAborted,
  type UpgradeResult,
} from "./revision.ts";
import { afterFailedRun } from "./upgrade-failure.ts";

export interface UpgradeDeps extends ReferencedDeps {
  readonly assignments: Pick<Assignments, "ensureStored">;
  readonly releases: Releases;
  readonly stored: StoredReleases;
  readonly records: ReadRecords;
  readonly crds: Pick<CrdRetention, "beforeUpgrade">;
  readonly applyChartCrds: ApplyChartCrds;
  readonly uninstall: HelmUninstall;
  readonly charts: ChartCache;
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

/** Such a run ends soon, unless a hook of the chart delays it. */
const defaultSupersededGraceMs = 10_000;

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
  if ("kind" in prepared) return prepared;
  const runHelm = deps.withPostRenderers(revision.content, deps.runHelm);
  const result = await runWatched({ ...deps, runHelm }, revision, prepared, pass);
  if (result.exceeded !== undefined) {
    await recordFailure(deps, revision, prepared);
    throw await deps.limitRecords.exceeded(
      helmKey(prepared),
      `helm upgrade --install of release ${nameOf(revision)} with chart ${prepared.chart}: ${helmErrorOf(result)}; other deployments continue`,
    );
  }
  if (result.code !== 0) {
    const { supersededGraceMs = defaultSupersededGraceMs } = deps;
    const failureDeps = { ...deps, supersededGraceMs };
    return await afterFailedRun(failureDeps, revision, prepared, result, pass);
  }
  const release = await printedRelease(deps, revision, result);
  const { before = [] } = prepared;
  const { rest } = revision.client;
  if (isAppliedByClient(release))
    await repairLists(deps, { release, before, rest, signal: pass.signal });
  await recordResult(deps, revision, prepared, release);
  await deps.limitRecords.succeeded(helmKey(prepared));
  return { kind: "done" };
}

async function runWatched(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  pass: DeployUntil,
): ReturnType<typeof run> {
  const watched = watchLongRun(deps, revision);
  try {
    return await run(deps, prepared, pass);
  } finally {
    await watched.end();
  }
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
  revisionInputs: RevisionInputs,
  { signal, superseded, withoutWorker }: DeployUntil,
  used: UsedChart[],
): Promise<Prepared | UpgradeResult> {
  const { assignment, desired, isForced, content, revision, client, inputs, reasons } =
    revisionInputs;
  const { charts, assignments, releases, inventory, attempts, clock } = deps;
  const { owner, namespace, name } = desired;
  const { request } = assignment;
  const until = AbortSignal.any([signal, superseded]);
  deps.prepareCheck();
  const { digest, parts, values } = await inputs.final();
  deps.limitRecords.check(helmKey({ digest }));
  const { chart, checked } = await withoutWorker(async () => {
    const fetched = await charts.fetch(content.pin, chartAccess(content, deps), {
      signal: until,
      sources: assignment.sources,
    });
    used.push(fetched);
    deps.sources.set(owner, fetched.source);
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
  if (mustReinstall(content, installed, checked.name) && !isFirst(latest))
    return { kind: "reinstall" };
  // A service account limits what Helm may delete; but nothing is rolled back to a record of somebody else.
  const { options, notes } = await planRun(deps, revisionInputs, { digest, latest });
  const mustCheck = latest !== undefined && (client.isAgent || options.isAtomic);
  const { mayRollBack } = mustCheck
    ? await deps.guard.beforeUpgrade(desired, { client, isForced, signal })
    : { mayRollBack: true };
  const rollback = keep && isFirst(latest) ? "uninstall" : mayRollBack ? "by Helm" : "no";
  const isRolledBackByHelm = options.isAtomic && rollback === "by Helm";
  const helmWaits = mustHelmWait(options, checked.hasPostHooks);
  const readyUntilMs =
    options.waits && !helmWaits
      ? clock.now() + (options.timeoutSeconds * 1_000 || defaultTimeoutMs)
      : undefined;
  await deps.crds.beforeUpgrade(desired, { keep, client, signal });
  const before = await releasesBefore(deps, latest, options);
  const run = {
    namespace,
    release: name,
    revision,
    rollsBack: isRolledBackByHelm,
    ...(readyUntilMs !== undefined && { readyUntilMs }),
    digest,
    parts,
    reasons: [...reasons],
    ...(inputs.origin !== undefined && { origin: inputs.origin }),
    chartDigest: chart.digest,
    ...(notes !== undefined && { notes }),
    ...(before !== undefined && { isClientSide: true }),
    ...(reasons.includes("Requested") && request !== undefined && { request: request.token }),
  };
  const action = isFirst(latest) ? "install" : "upgrade";
  await attempts.beginRun(owner, run, request?.token);
  try {
    await prepareNamespace(deps, revisionInputs, options, signal);
    if (mustApplyCrds(options, latest))
      await deps.applyChartCrds({
        release: desired,
        owner: owner.name,
        chart,
        values: stdin,
        client,
        signal: until,
        replace: options.crds === "CreateReplace",
      });
  } catch (thrown) {
    // In Flux both are of the action of Helm, which fails by them.
    return { kind: "failed", action, error: AppError.from(thrown), hasRecord: false };
  }
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
