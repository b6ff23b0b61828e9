/** The leader's loops, one for each kind of work. */
import { type Controller, createController } from "@flotilla/shared/kube/controller/controller.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller/reconcile.ts";
import type { KubeObject, ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import { createContentPacker } from "../bundle/place.ts";
import { bundlePreparer } from "../bundle/prepare.ts";
import { deployReconciler } from "../bundle/reconcile.ts";
import { createBundleResolver } from "../bundle/resolve-bundle.ts";
import { tombstoneReconciler } from "../bundledeployment/reconcile.ts";
import { byBundle } from "../cache/indexes.ts";
import { userFields } from "../cache/keys.ts";
import { clusterReconciler } from "../cluster/reconcile.ts";
import { collectReconciler } from "../contentgc/reconcile.ts";
import { helmOpReconciler } from "../helmop/reconcile.ts";
import { createPatterns } from "../policy/patterns.ts";
import type { ControlDeps } from "./control-deps.ts";
import type { Knowledge } from "./knowledge.ts";

/** Each takes the keys of the objects that are to be looked at. */
export interface Loops {
  readonly helmOps: Controller;
  readonly bundles: Controller;
  readonly clusters: Controller;
  readonly tombstones: Controller;
  /** Secrets with contents, by their own key. */
  readonly contents: Controller;
}

/** Of one look at a HelmOp or a Bundle: a large index from a slow repository may take five minutes, as in Fleet. */
const lookTimeoutMs = 6 * 60_000;

/** How long a content stays that nothing names any more. */
const contentGraceMs = 5 * 60_000;

export function createLoops(deps: ControlDeps, knowledge: Knowledge): Loops {
  const { rest, caches, clock, log } = deps;
  const { access, bundleAccess, count, doubts, housed, outcomes, statuses } = knowledge;
  const patterns = createPatterns();
  const controller = (
    name: string,
    workers: number,
    reconcile: Reconcile,
    lookUp?: (key: ObjectKey) => KubeObject | undefined,
  ) =>
    createController({
      name,
      workers,
      reconcile,
      timeoutMs: lookTimeoutMs,
      logFields: (key) => userFields(lookUp?.(key)),
      log,
      metrics: deps.metrics,
      clock,
    });
  const charts = createBundleResolver({
    resolver: deps.resolver,
    access: bundleAccess,
    doubts,
    deploymentsOf: (key) => caches.deployments.store.byIndex(byBundle, key),
  });
  const helmOps = controller(
    "helmop",
    32,
    helmOpReconciler({
      ...deps,
      helmOps: caches.helmOps.store,
      bundles: caches.bundles.store,
      deployments: caches.deployments.store,
      policies: caches.policies.store,
      patterns,
      doubts,
      access,
      outcomes,
      markStatus: statuses.markHelmOp,
    }),
    caches.helmOps.store.get,
  );
  const bundles = controller(
    "bundle",
    16,
    deployReconciler({
      ...deps,
      bundles: caches.bundles.store,
      deployments: caches.deployments.store,
      clusters: caches.clusters.store,
      groups: caches.groups.store,
      packer: createContentPacker(),
      prepare: bundlePreparer({
        helmOps: caches.helmOps.store,
        policies: caches.policies.store,
        patterns,
        charts,
        seals: deps.seals,
      }),
      forget: charts.forget,
      outcomes,
      onWritten: count,
      markStatus: statuses.markBundle,
    }),
    caches.bundles.store.get,
  );
  const clusterLoop = controller(
    "cluster",
    32,
    clusterReconciler({
      rest,
      clusters: caches.clusters.store,
      deployments: caches.deployments.store,
      namespaces: caches.namespaces.store,
      tokens: caches.tokens.store,
      housed,
      markStatus: statuses.markCluster,
    }),
  );
  const tombstones = controller(
    "tombstone",
    16,
    tombstoneReconciler({
      rest,
      deployments: caches.deployments.store,
      clusters: caches.clusters.store,
    }),
  );

  const collector = controller(
    "content",
    4,
    collectReconciler({
      ...deps,
      contentSecrets: caches.contents.store,
      deployments: caches.deployments.store,
      graceMs: contentGraceMs,
    }),
  );

  return { helmOps, bundles, clusters: clusterLoop, tombstones, contents: collector };
}
