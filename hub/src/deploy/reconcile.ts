/** Bundle to BundleDeployments: chooses the clusters, stores what they run, and keeps one BundleDeployment for each. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { bundleFinalizer } from "@flotilla/shared/api/names.ts";
import { bundleDeployments, bundles } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller.ts";
import { keyOf, type ObjectKey, type ObjectMeta } from "@flotilla/shared/kube/object.ts";
import { done } from "@flotilla/shared/kube/outcome.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isAlreadyExists, isNotFound } from "@flotilla/shared/kube/status-error.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import pLimit from "p-limit";
import type { ContentStore } from "../content/content-store.ts";
import type { BundleTargeting, Outcomes } from "../status/intent.ts";
import { clusterKeyOf } from "./deployment-cluster.ts";
import { type ContentPacker, place } from "./place.ts";
import { planDeployments } from "./plan-deployments.ts";

/** BundleDeployments by the key of their Bundle; clusters and groups by namespace. */
export const byBundle = "bundle";
export const byNamespace = "namespace";

export interface DeployDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
  /** Indexed `byBundle`. */
  readonly deployments: Store<BundleDeployment>;
  /** Indexed `byNamespace`. */
  readonly clusters: Store<Cluster>;
  /** Indexed `byNamespace`. */
  readonly groups: Store<ClusterGroup>;
  readonly contents: ContentStore;
  readonly packer: ContentPacker;
  readonly outcomes: Outcomes;
  /** Told the key of every BundleDeployment that was written, before any status is told anew. */
  readonly onWritten: (key: ObjectKey) => void;
  /** Has the statuses that depend on a Bundle told anew. */
  readonly markStatus: (key: ObjectKey) => void;
}

/** BundleDeployments that are written at the same time. More makes the API server slower, not faster. */
const parallelWrites = 48;

export function deployReconciler(deps: DeployDeps): Reconcile {
  const limit = pLimit(parallelWrites);

  return async function reconcile(key, { signal }) {
    const bundle = deps.bundles.get(key);
    if (bundle === undefined) {
      deps.outcomes.bundles.delete(key);
      deps.markStatus(key);
      return done();
    }
    if (bundle.metadata.deletionTimestamp !== undefined) {
      await withdraw(bundle, signal);
      return done();
    }
    const generation = bundle.metadata.generation ?? 0;
    const before = deps.outcomes.bundles.get(key);
    try {
      deps.outcomes.bundles.set(key, { generation, ...(await deploy(bundle, signal)) });
    } catch (thrown) {
      const error = AppError.from(thrown);
      deps.outcomes.bundles.set(key, {
        generation,
        targets: before?.targets ?? 0,
        waiting: 0,
        error: error.message,
      });
      throw error;
    } finally {
      deps.markStatus(key);
    }
    return done();
  };

  async function deploy(
    bundle: Bundle,
    signal: AbortSignal,
  ): Promise<Omit<BundleTargeting, "generation">> {
    const namespace = bundle.metadata.namespace ?? "";
    const { placements, contents, missing } = await place(
      bundle,
      deps.clusters.byIndex(byNamespace, namespace),
      deps.groups.byIndex(byNamespace, namespace),
      deps.packer,
    );
    await Promise.all(contents.map((content) => deps.contents.ensure(content)));
    const plan = planDeployments(
      bundle,
      placements,
      deps.deployments.byIndex(byBundle, keyOf(bundle)).filter(isOfKnownCluster),
    );
    await Promise.all([
      ...plan.create.map((deployment) => limit(() => create(deployment, signal))),
      ...plan.replace.map((deployment) =>
        limit(async () =>
          written(await deps.rest.replace(bundleDeployments, deployment, { signal })),
        ),
      ),
      ...plan.remove.map((deployment) => limit(() => remove(deployment.metadata, signal))),
    ]);
    const unchecked = contents.flatMap((content) =>
      content.unchecked === undefined ? [] : [[content.deploymentId, content.unchecked] as const],
    );
    return {
      targets: placements.length,
      waiting: plan.waiting,
      ...(unchecked.length > 0 && { unchecked: new Map(unchecked) }),
      ...(missing.length > 0 && { missing }),
    };
  }

  /**
   * What is of a cluster that is gone goes with that cluster's namespace, of which the API server itself was asked. Caches
   * that are read anew after a backup was restored know of a deployment before they know of its cluster.
   */
  function isOfKnownCluster(deployment: BundleDeployment): boolean {
    return deps.clusters.get(clusterKeyOf(deployment)) !== undefined;
  }

  async function create(deployment: BundleDeployment, signal: AbortSignal): Promise<void> {
    try {
      written(await deps.rest.create(bundleDeployments, deployment, { signal }));
    } catch (thrown) {
      // The name is taken by one that our cache has not seen yet: the watch brings it, and this runs again.
      // A namespace that is gone belongs to a cluster that is gone.
      if (!isAlreadyExists(thrown) && !isNotFound(thrown)) throw thrown;
    }
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

  /** The Bundle goes once all its BundleDeployments are on their way out; they are the tombstones from then on. */
  async function withdraw(bundle: Bundle, signal: AbortSignal): Promise<void> {
    const finalizers = bundle.metadata.finalizers ?? [];
    if (!finalizers.includes(bundleFinalizer)) return;
    const remaining = deps.deployments
      .byIndex(byBundle, keyOf(bundle))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    await Promise.all(remaining.map(({ metadata }) => limit(() => remove(metadata, signal))));
    const body = {
      metadata: {
        resourceVersion: bundle.metadata.resourceVersion,
        finalizers: finalizers.filter((name) => name !== bundleFinalizer),
      },
    };
    await deps.rest.patch(bundles, bundle.metadata, { type: "merge", body }, { signal });
  }
}
