/** Bundle to BundleDeployments: chooses the clusters, stores what they run, and keeps one BundleDeployment for each. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { bundleFinalizer } from "@flotilla/shared/api/names.ts";
import { bundleDeployments } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
} from "@flotilla/shared/kube/client/status-error.ts";
import {
  done,
  isEnding,
  type Reconcile,
  type ReconcileContext,
  type Result,
  requeueAfter,
} from "@flotilla/shared/kube/controller/reconcile.ts";
import { keyOf, type ObjectKey, type ObjectMeta } from "@flotilla/shared/kube/objects/object.ts";
import pLimit from "p-limit";
import { byBundle } from "../cache/indexes.ts";
import { bundleKeyOf, clusterKeyOf } from "../cache/keys.ts";
import type { ContentStore } from "../content/content-store.ts";
import type { BundleTargeting } from "../status/intent.ts";
import { addFinalizer, type FinalizerDeps, removeFinalizer } from "./finalizer.ts";
import { listDeployments } from "./list-deployments.ts";
import { type ContentPacker, place } from "./place.ts";
import { planDeployments } from "./plan-deployments.ts";
import type { PrepareBundle } from "./prepare.ts";
import {
  reportRefusal,
  type TellBundleDeps,
  tellAsBefore,
  tellBundle,
  tellHeld,
} from "./tell-bundle.ts";

export interface DeployDeps extends FinalizerDeps, TellBundleDeps {
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
  readonly groups: Store<ClusterGroup>;
  readonly contents: Pick<ContentStore, "ensure">;
  readonly packer: ContentPacker;
  readonly prepare: PrepareBundle;
  /** Drops what is remembered of a Bundle that is gone. */
  readonly forget: (key: ObjectKey) => void;
  /** Told the key of every BundleDeployment that was written, before any status is told anew. */
  readonly onWritten: (key: ObjectKey) => void;
  /** Has the statuses that depend on a Bundle told anew. */
  readonly markStatus: (key: ObjectKey) => void;
}

/** After this, what could not be prepared at the first look is told. What it lacks most often has it looked at sooner. */
const excuseMs = 5_000;

/** BundleDeployments that are written at the same time. More makes the API server slower, not faster. */
const parallelWrites = 48;

export function deployReconciler(deps: DeployDeps): Reconcile {
  const limit = pLimit(parallelWrites);
  /** Bundles that could not be prepared at our first look. */
  const excused = new Set<ObjectKey>();

  return async function reconcile(key, context) {
    const bundle = deps.bundles.get(key);
    if (bundle === undefined) {
      deps.outcomes.bundles.delete(key);
      excused.delete(key);
      deps.forget(key);
      deps.markStatus(key);
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
      // Somebody else was faster, or goes on with it: nothing is wrong.
      if (!isConflict(error) && !isEnding(context.signal))
        tellBundle(deps, bundle, { error: error.message });
      throw error;
    } finally {
      deps.markStatus(key);
    }
  };

  async function update(
    bundle: Bundle,
    { signal, withoutWorker }: Pick<ReconcileContext, "signal" | "withoutWorker">,
  ): Promise<Result> {
    const key = keyOf(bundle);
    const before = deps.outcomes.bundles.get(key);
    const kept = {
      pins: before?.pins ?? bundle.status?.pins ?? [],
      handled: before?.handled ?? bundle.status?.lastHandledReconcileAt,
    };
    // It may ask repositories.
    const prepared = await withoutWorker(() => deps.prepare(bundle, kept, signal));
    const told = {
      ...(prepared.pins !== undefined && { pins: prepared.pins }),
      ...(prepared.handled !== undefined && { handled: prepared.handled }),
      ...(prepared.remarks !== undefined && { remarks: prepared.remarks }),
    };
    switch (prepared.kind) {
      case "waiting":
        if (prepared.pins === undefined) tellAsBefore(deps, bundle);
        else tellBundle(deps, bundle, { ...told, isResolving: true });
        return done();
      case "held":
        // Who leads anew has read nothing yet: one answer that did not come takes nothing back that was told.
        if (
          prepared.error.retryable &&
          before === undefined &&
          bundle.status?.observedGeneration === bundle.metadata.generation &&
          !excused.has(key)
        ) {
          excused.add(key);
          return requeueAfter(excuseMs, "look again");
        }
        reportRefusal(deps, bundle, prepared.error);
        return tellHeld(deps, bundle, prepared, told);
      case "deployable": {
        const handedOut = { ...bundle, spec: prepared.spec };
        await addFinalizer(deps, bundle, signal);
        const { isOvertaken, ...targeting } = await deploy(handedOut, signal);
        deps.outcomes.bundles.set(key, {
          generation: bundle.metadata.generation ?? 0,
          version: prepared.spec.helm?.version ?? "",
          ...told,
          ...targeting,
        });
        if (isOvertaken) return requeueAfter(0, "a deployment was there already");
        return prepared.retryMs === undefined ? done() : requeueAfter(prepared.retryMs, "resolve");
      }
    }
  }

  async function deploy(
    bundle: Bundle,
    signal: AbortSignal,
  ): Promise<Omit<BundleTargeting, "generation"> & { readonly isOvertaken: boolean }> {
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
      deps.deployments.byIndex(byBundle, keyOf(bundle)),
    );
    let isOvertaken = false;
    await Promise.all([
      ...plan.create.map((deployment) =>
        limit(async () => {
          if (!(await create(deployment, signal))) isOvertaken = true;
        }),
      ),
      ...plan.replace.map((deployment) =>
        limit(async () =>
          written(await deps.rest.replace(bundleDeployments, deployment, { signal })),
        ),
      ),
      ...plan.remove
        .filter(isOfKnownCluster)
        .map(({ metadata }) => limit(() => remove(metadata, signal))),
    ]);
    const unchecked = contents.flatMap((content) =>
      content.unchecked === undefined ? [] : [[content.deploymentId, content.unchecked] as const],
    );
    return {
      isOvertaken,
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

  /** False when it was there already: whoever led before made it, and our cache knows of it only now. */
  async function create(deployment: BundleDeployment, signal: AbortSignal): Promise<boolean> {
    try {
      written(await deps.rest.create(bundleDeployments, deployment, { signal }));
      return true;
    } catch (thrown) {
      // A namespace that is gone belongs to a cluster that is gone.
      if (isNotFound(thrown)) return true;
      if (!isAlreadyExists(thrown)) throw thrown;
    }
    const there = await deps.rest.get(bundleDeployments, deployment.metadata, { signal });
    // One that is another's is left alone: it stays pending.
    if (there === undefined || bundleKeyOf(there) !== bundleKeyOf(deployment)) return true;
    written(there);
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
   * The Bundle goes once all its BundleDeployments are on their way out; they are the tombstones from then on. The API server
   * itself says which there are: one that our cache does not know of would stay for ever.
   */
  async function withdraw(bundle: Bundle, signal: AbortSignal): Promise<void> {
    if (bundle.metadata.finalizers?.includes(bundleFinalizer) !== true) return;
    const deployments = await listDeployments(deps.rest, bundle, signal);
    await Promise.all(
      deployments
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => limit(() => remove(metadata, signal))),
    );
    await removeFinalizer(deps, bundle, signal);
  }
}
