/** Bundle to BundleDeployments: prepares the spec, has the deployments written, and decides the status. */
import { type Bundle, type BundleStatus, bundles } from "@flotilla/shared/api";
import { bundleFinalizer } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { isConflict } from "@flotilla/shared/kube/client";
import {
  addFinalizer,
  done,
  type FinalizerOptions,
  isEnding,
  type Reconcile,
  type ReconcileContext,
  type Result,
  removeFinalizer,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { clusterKeyOf, type Publisher } from "../../base/index.ts";
import {
  type ChartAccess,
  type ContentStore,
  type DeploymentSigner,
  holds,
  isWorthPublishing,
  notAccepted,
  recordViolation,
  requeueAt,
  rolloutFields,
  type Schedules,
} from "../../rules/index.ts";
import type { StagedRollouts } from "../stages/staged-rollouts.ts";
import { createCurrentRollout } from "./current-rollout.ts";
import {
  type BundleDecision,
  type Deployed,
  decidedStatus,
  resolutionStateOf,
  resolvedStatus,
  retryingStatus,
  targetsMissing,
} from "./decided-status.ts";
import { createDeploymentWriter, type DeploymentWriterDeps } from "./deployment-writer.ts";
import { withoutDeprecatedLabel } from "./deprecated-label.ts";
import { holdByWindows } from "./held-windows.ts";
import type { HubValues } from "./hub-values.ts";
import { offScheduleAt, wakesBy } from "./off-schedule.ts";
import { isPaused } from "./pauses.ts";
import { heldDeployment, planDeployments } from "./plan-deployments.ts";
import type { PrepareBundle } from "./prepare.ts";
import { type ReachedTargetsDeps, reachedTargets } from "./reached-targets.ts";
import type { ReportPasses } from "./report-passes.ts";

export interface BundleDeps extends DeploymentWriterDeps, Omit<ReachedTargetsDeps, "clusters"> {
  readonly contents: Pick<ContentStore, "ensure">;
  readonly deploymentSigner: DeploymentSigner;
  readonly schedules: Pick<Schedules, "coverageOf">;
  readonly staged: StagedRollouts;
  readonly passes: Pick<ReportPasses, "begin" | "run" | "changed">;
  readonly bundles: Store<Bundle>;
  readonly prepare: PrepareBundle;
  readonly access: Pick<ChartAccess, "forget">;
  readonly values: Pick<HubValues, "of" | "forget">;
  readonly statuses: Pick<Publisher<BundleStatus, Bundle>, "current" | "publish">;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
  /** Rolls up the statuses that depend on a Bundle. */
  readonly refresh: (key: ObjectKey) => void;
}

/** What came of deploying a Bundle. */
interface Applied extends Omit<Deployed, "version"> {
  /** A deployment existed that our cache did not have, or a rollout has more to decide. */
  readonly isOvertaken: boolean;
  /** What the targets name that does not exist, as sentences. */
  readonly missing: readonly string[];
  /** What mappings and the rollout strategy leave out, as sentences. */
  readonly leftOut: readonly string[];
  /** The clusters that wait for a window, as a sentence, or "". */
  readonly offSchedule: string;
  /** When a window of a cluster opens or closes, or time alone changes what the rollout does. */
  readonly changesAtMs: number | undefined;
}

/** Contents without a digest that a status lists. */
const maxUnchecked = 50;

export function bundleReconciler(deps: BundleDeps): Reconcile {
  const { statuses } = deps;
  const deployments = createDeploymentWriter(deps);
  const { deploymentSigner: signer } = deps;
  const currentRollout = createCurrentRollout({
    ...deps,
    deployments,
    wasStaged: (bundle) => statuses.current(bundle)?.rollout !== undefined,
  });

  return async function reconcile(key, context) {
    const bundle = deps.bundles.get(key);
    if (bundle === undefined) {
      deps.access.forget(key);
      deps.values.forget(key);
      deployments.forget(key);
      deps.passes.changed(key);
      deps.staged.forget(key);
      deps.refresh(key);
      return done();
    }
    if (bundle.metadata.deletionTimestamp !== undefined) {
      await withdraw(bundle, context.signal);
      return done();
    }
    try {
      const short = await deps.passes.run(key, { deployments, signer, signal: context.signal });
      if (short.kind === "made") return short.result;
      return await update(await withoutDeprecatedLabel(deps, bundle, context.signal), context);
    } catch (thrown) {
      deps.passes.changed(key);
      const error = AppError.from(thrown);
      // After a conflict or the end of this leader nothing is wrong with the Bundle.
      if (!isConflict(error) && !isEnding(context.signal)) publishFailure(bundle, error, context);
      throw error;
    } finally {
      deps.refresh(key);
    }
  };

  async function update(bundle: Bundle, context: ReconcileContext): Promise<Result> {
    const status = statuses.current(bundle);
    const prepared = await deps.prepare(bundle, status, {
      signal: context.signal,
      withoutWorker: context.withoutWorker,
      onRetrying: (remarks) => publishRetrying(bundle, remarks),
    });
    // What the last pass found counts for nothing while nothing may be deployed.
    if (prepared.kind !== "deployable") deps.passes.changed(keyOf(bundle));
    switch (prepared.kind) {
      case "waiting":
        return requeueAt(await keepWindows(bundle, context.signal), deps.clock.now());
      case "held":
        await hold(bundle, context.signal);
        return requeueAt(await keepWindows(bundle, context.signal), deps.clock.now());
      case "resolved":
        statuses.publish(bundle, resolvedStatus(status, prepared.resolution));
        return done();
      case "notAccepted": {
        const { accepted, error, isRead, resolution, nextAtMs } = prepared;
        const isAccepted = isAcceptedNow(bundle, status);
        const { retries } = context;
        if (isRead && error !== undefined && !isWorthPublishing(error, { isAccepted, retries }))
          throw error;
        if (error !== undefined)
          recordViolation(
            deps.events,
            bundle,
            findCondition(status?.conditions, "Accepted"),
            error,
          );
        publish(bundle, { accepted, rejectedCode: error?.code, resolution });
        const changesAtMs = await keepWindows(bundle, context.signal);
        return requeueAt(earliest(nextAtMs, changesAtMs), deps.clock.now());
      }
      case "deployable": {
        const { spec, remarks, resolution, nextAtMs } = prepared;
        if ((await addFinalizer(finalizer(context.signal), bundle)) === undefined) return done();
        const applied = await deploy({ ...bundle, spec }, context.signal);
        if (applied instanceof AppError) {
          const before = findCondition(status?.conditions, "Accepted");
          recordViolation(deps.events, bundle, before, applied);
          const accepted = notAccepted(applied, remarks);
          publish(bundle, { accepted, rejectedCode: applied.code, resolution });
          return requeueAt(nextAtMs, deps.clock.now());
        }
        const { isOvertaken, missing, leftOut, offSchedule, changesAtMs, ...deployed } = applied;
        publish(bundle, {
          accepted: {
            status: "True",
            reason: missing.length > 0 ? targetsMissing : "",
            message: [...missing, ...leftOut, ...remarks, offSchedule]
              .filter((text) => text !== "")
              .join("; "),
          },
          resolution,
          deployed: { ...deployed, version: spec.helm?.version ?? "" },
        });
        if (isOvertaken) return requeueAfter(0, "a deployment existed already");
        return requeueAt(earliest(nextAtMs, changesAtMs), deps.clock.now());
      }
    }
  }

  /**
   * Creates, replaces and deletes the deployments of a Bundle whose versions are resolved. An error: its Policies do not accept how it
   * reaches its clusters, and nothing was changed.
   */
  async function deploy(bundle: Bundle, signal: AbortSignal): Promise<Applied | AppError> {
    const end = deps.passes.begin(keyOf(bundle));
    // Once for all targets: a revision has no values of two times.
    const values = await deps.values.of(bundle);
    const reached = { ...(await reachedTargets(deps, bundle, values)), values };
    const { placements, contents, missing, reach, approvals } = reached;
    if (approvals.violation !== undefined) {
      deps.passes.changed(keyOf(bundle));
      return approvals.violation.error;
    }
    const windows = offScheduleAt(deps.schedules, deps.clock.now());
    await windows.lookUp(placements.map(({ cluster }) => cluster));
    const { isOff: isOffSchedule } = windows;
    const { rollout, staged, limits, remarks } = await currentRollout(
      { ...reached, bundle, isOffSchedule },
      signal,
    );
    const plan = planDeployments(bundle, rollout, deployments.existing(bundle), {
      signer,
      isOffSchedule(deployment) {
        const cluster = deps.clusters.get(clusterKeyOf(deployment));
        return cluster !== undefined && isOffSchedule(cluster);
      },
      isKept: reach.isKept,
    });
    const isOvertaken = await deployments.write(plan, signal);
    const reports = isOvertaken ? undefined : staged?.reports;
    end({ bundle, reports, promoted: staged?.promoted ?? [] });
    await staged?.conclude?.();
    const unchecked = contents.flatMap((content) =>
      content.unchecked === undefined ? [] : [[content.deploymentId, content.unchecked] as const],
    );
    return {
      isOvertaken: isOvertaken || staged?.isUnfinished === true,
      missing,
      leftOut: [...reach.remarks, ...remarks],
      offSchedule: windows.remark(plan.offSchedule),
      changesAtMs: earliest(windows.changesAtMs(), wakesBy(staged?.wakesAtMs, deps.clock.now())),
      staged: staged?.summary,
      targets: placements.length,
      rollout: staged?.partitions ?? (limits && rolloutFields(limits.plan)),
      uncheckedContents: Object.fromEntries(unchecked.slice(0, maxUnchecked)),
    };
  }

  /** Windows open and close for what is deployed whatever is wrong with the Bundle now. */
  function keepWindows(bundle: Bundle, signal: AbortSignal): Promise<number | undefined> {
    return holdByWindows({ ...deps, deployments }, bundle, signal);
  }

  /** Suspends and pauses the deployments of a Bundle that exist, and changes nothing else. */
  async function hold(bundle: Bundle, signal: AbortSignal): Promise<void> {
    const replace = deployments.existing(bundle).flatMap((deployment) => {
      const cluster = deps.clusters.get(clusterKeyOf(deployment));
      return heldDeployment(bundle, deployment, cluster !== undefined && isPaused(cluster)) ?? [];
    });
    const plan = { create: [], replace, remove: [], offSchedule: [], waiting: 0 };
    await deployments.write(plan, signal);
  }

  function publishRetrying({ metadata }: Bundle, remarks: readonly string[]): void {
    const latest = deps.bundles.get(keyOf({ metadata }));
    if (latest === undefined || latest.metadata.uid !== metadata.uid) return;
    const status = statuses.current(latest);
    const now = formatTimeMs(deps.clock.now());
    if (status !== undefined)
      statuses.publish(latest, retryingStatus(latest, status, { remarks, now }));
  }

  function publish(bundle: Bundle, decision: Omit<BundleDecision, "now">): void {
    const now = formatTimeMs(deps.clock.now());
    const decided = decidedStatus(bundle, statuses.current(bundle), { ...decision, now });
    statuses.publish(bundle, decided);
  }

  /** Deploying failed. Where it is deployed, and as which version, stays. */
  function publishFailure(bundle: Bundle, error: AppError, { retries }: ReconcileContext): void {
    const status = statuses.current(bundle);
    const isAccepted = isAcceptedNow(bundle, status);
    if (!isWorthPublishing(error, { isAccepted, retries })) return;
    const isApplied = status?.pins !== undefined || status?.resolution !== undefined;
    const kept = { state: resolutionStateOf(status), handled: status?.lastHandledReconcileAt };
    publish(bundle, {
      accepted: { status: "False", reason: "DeployFailed", message: error.message },
      rejectedCode: error.code,
      ...(isApplied && { resolution: kept }),
    });
  }

  function finalizer(signal: AbortSignal): FinalizerOptions<Bundle> {
    return {
      rest: deps.rest,
      resource: bundles,
      store: deps.bundles,
      finalizer: bundleFinalizer,
      signal,
    };
  }

  /**
   * The Bundle is removed once all its BundleDeployments are being deleted; from then on they are the tombstones. They
   * are listed from the API server: one that our cache does not have would never be deleted.
   */
  async function withdraw(bundle: Bundle, signal: AbortSignal): Promise<void> {
    if (bundle.metadata.finalizers?.includes(bundleFinalizer) !== true) return;
    await deployments.deleteAll(bundle, signal);
    await removeFinalizer(finalizer(signal), bundle);
  }
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

function isAcceptedNow({ metadata }: Bundle, status: BundleStatus | undefined): boolean {
  const { generation = 0 } = metadata;
  return holds(findCondition(status?.conditions, "Accepted"), { status: "True", generation });
}
