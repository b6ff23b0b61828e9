/** Bundle to BundleDeployments: chooses the clusters, stores their contents, and keeps one BundleDeployment for each. */
import {
  type Bundle,
  type BundleDeployment,
  type BundleStatus,
  bundleDeployments,
  bundles,
  type Cluster,
  type ClusterGroup,
} from "@flotilla/shared/api";
import { bundleFinalizer } from "@flotilla/shared/api/names";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
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
import { keyOf, type ObjectKey, type ObjectMeta } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { bundleKeyOf, byBundle, clusterKeyOf } from "../cache/index.ts";
import type { ContentStore } from "../content/index.ts";
import { holds, isWorthPublishing } from "../frontend/index.ts";
import { recordViolation } from "../policy/index.ts";
import { type ChartAccess, requeueAt } from "../resolve/index.ts";
import type { Publisher } from "../status/index.ts";
import {
  type Decision,
  type Deployed,
  decidedStatus,
  resolutionStateOf,
  resolvedStatus,
  targetsMissing,
} from "./decided-status.ts";
import { listDeployments } from "./list-deployments.ts";
import { type ContentPacker, matchTargets } from "./place.ts";
import { planDeployments } from "./plan-deployments.ts";
import type { PrepareBundle } from "./prepare.ts";

export interface BundleDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
  readonly groups: Store<ClusterGroup>;
  readonly contents: Pick<ContentStore, "ensure">;
  readonly packer: ContentPacker;
  readonly prepare: PrepareBundle;
  readonly access: Pick<ChartAccess, "forget">;
  readonly statuses: Pick<Publisher<BundleStatus, Bundle>, "current" | "publish">;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
  /** Called with the key of each BundleDeployment that was written, before any status is rolled up. */
  readonly onWritten: (key: ObjectKey) => void;
  /** Rolls up the statuses that depend on a Bundle. */
  readonly refresh: (key: ObjectKey) => void;
}

/** BundleDeployments that are written at the same time. More makes the API server slower, not faster. */
const parallelWrites = 48;

/** Contents without a digest that a status lists. */
const maxUnchecked = 50;

export function bundleReconciler(deps: BundleDeps): Reconcile {
  const { statuses } = deps;
  const writes = createSemaphore(parallelWrites);

  return async function reconcile(key, context) {
    const bundle = deps.bundles.get(key);
    if (bundle === undefined) {
      deps.access.forget(key);
      deps.refresh(key);
      return done();
    }
    if (bundle.metadata.deletionTimestamp !== undefined) {
      await withdraw(bundle, context.signal);
      return done();
    }
    try {
      return await update(bundle, context);
    } catch (thrown) {
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
    const prepared = await deps.prepare(bundle, status, context);
    switch (prepared.kind) {
      case "waiting":
        return done();
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
        publish(bundle, { accepted, resolution });
        return requeueAt(nextAtMs, deps.clock.now());
      }
      case "deployable": {
        const { spec, remarks, resolution, nextAtMs } = prepared;
        if ((await addFinalizer(finalizer(context.signal), bundle)) === undefined) return done();
        const { isOvertaken, missing, ...deployed } = await deploy(
          { ...bundle, spec },
          context.signal,
        );
        publish(bundle, {
          accepted: {
            status: "True",
            reason: missing.length > 0 ? targetsMissing : "",
            message: [...missing, ...remarks].join("; "),
          },
          resolution,
          deployed: { ...deployed, version: spec.helm?.version ?? "" },
        });
        if (isOvertaken) return requeueAfter(0, "a deployment existed already");
        return requeueAt(nextAtMs, deps.clock.now());
      }
    }
  }

  function publish(bundle: Bundle, decision: Omit<Decision, "now">): void {
    const now = new Date(deps.clock.now()).toISOString();
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

  async function deploy(
    bundle: Bundle,
    signal: AbortSignal,
  ): Promise<
    Omit<Deployed, "version"> & {
      /** A deployment existed that our cache did not have. */
      readonly isOvertaken: boolean;
      /** What the targets name that does not exist, as sentences. */
      readonly missing: readonly string[];
    }
  > {
    const namespace = bundle.metadata.namespace ?? "";
    const { placements, contents, missing } = await matchTargets(
      bundle,
      deps.clusters.byIndex(byNamespace, namespace),
      deps.groups.byIndex(byNamespace, namespace),
      deps.packer,
    );
    await Promise.all(contents.map((content) => deps.contents.ensure(content)));
    const plan = planDeployments(
      bundle,
      placements,
      deps.deployments.byIndex(byBundle, keyOf(bundle)),
    );
    let isOvertaken = false;
    await Promise.all([
      ...plan.create.map((deployment) =>
        writes.run(async () => {
          if (!(await create(deployment, signal))) isOvertaken = true;
        }),
      ),
      ...plan.replace.map((deployment) =>
        writes.run(async () =>
          written(await deps.rest.replace(bundleDeployments, deployment, { signal })),
        ),
      ),
      ...plan.remove
        .filter(isOfKnownCluster)
        .map(({ metadata }) => writes.run(() => remove(metadata, signal))),
    ]);
    const unchecked = contents.flatMap((content) =>
      content.unchecked === undefined ? [] : [[content.deploymentId, content.unchecked] as const],
    );
    return {
      isOvertaken,
      missing,
      targets: placements.length,
      uncheckedContents: Object.fromEntries(unchecked.slice(0, maxUnchecked)),
    };
  }

  /**
   * Deployments of a deleted cluster are deleted with that cluster's namespace, which is read from the API server:
   * after a restore the cache may have a deployment before it has its cluster.
   */
  function isOfKnownCluster(deployment: BundleDeployment): boolean {
    return deps.clusters.get(clusterKeyOf(deployment)) !== undefined;
  }

  /** False when it existed already: another leader created it, and our cache did not have it. */
  async function create(deployment: BundleDeployment, signal: AbortSignal): Promise<boolean> {
    try {
      written(await deps.rest.create(bundleDeployments, deployment, { signal }));
      return true;
    } catch (thrown) {
      // The namespace was deleted with its cluster.
      if (isNotFound(thrown)) return true;
      if (!isAlreadyExists(thrown)) throw thrown;
    }
    const existing = await deps.rest.get(bundleDeployments, deployment.metadata, { signal });
    // That of another Bundle is left alone: ours stays pending.
    if (existing === undefined || bundleKeyOf(existing) !== bundleKeyOf(deployment)) return true;
    written(existing);
    return false;
  }

  function written(deployment: BundleDeployment): void {
    deps.deployments.wrote(deployment);
    deps.onWritten(keyOf(deployment));
  }

  async function remove(metadata: ObjectMeta, signal: AbortSignal): Promise<void> {
    await deps.rest.delete(bundleDeployments, metadata, {
      ...(metadata.uid !== undefined && { uid: metadata.uid }),
      signal,
    });
  }

  /**
   * The Bundle is removed once all its BundleDeployments are being deleted; from then on they are the tombstones. They
   * are listed from the API server: one that our cache does not have would never be deleted.
   */
  async function withdraw(bundle: Bundle, signal: AbortSignal): Promise<void> {
    if (bundle.metadata.finalizers?.includes(bundleFinalizer) !== true) return;
    const deployments = await listDeployments(deps.rest, bundle, signal);
    await Promise.all(
      deployments
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => writes.run(() => remove(metadata, signal))),
    );
    await removeFinalizer(finalizer(signal), bundle);
  }
}

function isAcceptedNow({ metadata }: Bundle, status: BundleStatus | undefined): boolean {
  const { generation = 0 } = metadata;
  return holds(findCondition(status?.conditions, "Accepted"), { status: "True", generation });
}
