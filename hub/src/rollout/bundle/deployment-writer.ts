/** Writes the BundleDeployments of a Bundle. */
import {
  type Bundle,
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  isManagedElsewhere,
} from "@flotilla/shared/api";
import { bundleNameLabel, bundleNamespaceLabel, deploymentName } from "@flotilla/shared/api/names";
import { createSemaphore, type Semaphore } from "@flotilla/shared/concurrency";
import type { Store } from "@flotilla/shared/kube/cache";
import { isAlreadyExists, isNotFound, type KubeRest, listAll } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectKey, type ObjectMeta } from "@flotilla/shared/kube/objects";
import {
  bundleKeyOf,
  byBundle,
  byManagement,
  clusterKeyOf,
  clusterNamespaceOf,
  managedElsewhere,
} from "../../base/index.ts";
import type { DeploymentPlan } from "./plan-deployments.ts";

export interface DeploymentWriterDeps {
  readonly rest: KubeRest;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
  /** Called with the key of each BundleDeployment that was written, before any status is rolled up. */
  readonly onWritten: (key: ObjectKey) => void;
  readonly deploymentWrites: Pick<Semaphore, "run">;
}

export interface DeploymentWriter {
  /** The deployments of a Bundle; where another system manages the Cluster, they stay as they are. */
  existing(bundle: Bundle): readonly BundleDeployment[];
  /** The one among them in a cluster. */
  in(bundle: Bundle, cluster: Cluster): BundleDeployment | undefined;
  /** Carries out a plan; returns whether one that is to be created existed already, and our cache did not have it. */
  write(plan: DeploymentPlan, signal: AbortSignal): Promise<boolean>;
  /**
   * Makes sure that our cache has every deployment of a Bundle that an earlier leader wrote: a watch that lags would show promoted
   * clusters as available, and a limit would be exceeded. They are listed from the API server once for each Bundle and leader;
   * returns whether they were.
   */
  catchUp(bundle: Bundle, signal: AbortSignal): Promise<boolean>;
  /** The Bundle is gone. */
  forget(bundle: ObjectKey): void;
  /** Deletes all deployments of a Bundle, also those that our cache does not have. */
  deleteAll(bundle: Bundle, signal: AbortSignal): Promise<void>;
}

/** BundleDeployments that are written at the same time. More makes the API server slower, not faster. */
const parallelWrites = 48;

/** Limits the writes of BundleDeployments of all Bundles. */
export function createDeploymentWrites(): Semaphore {
  return createSemaphore(parallelWrites);
}

/** Characters of a label value. */
const longestLabelValue = 63;

export function createDeploymentWriter(deps: DeploymentWriterDeps): DeploymentWriter {
  const writes = deps.deploymentWrites;
  /** UIDs of Bundles whose deployments were listed. */
  const caughtUp = new Map<ObjectKey, string | undefined>();

  return {
    existing(bundle) {
      const all = deps.deployments.byIndex(byBundle, keyOf(bundle));
      // Mostly none is, and there may be ten thousand.
      const elsewhere = new Set(deps.clusters.byIndex(byManagement, managedElsewhere).map(keyOf));
      return elsewhere.size === 0 ? all : all.filter((each) => !elsewhere.has(clusterKeyOf(each)));
    },
    in(bundle, cluster) {
      const { namespace: workspace = "" } = cluster.metadata;
      const { namespace = "", name } = bundle.metadata;
      const own = deploymentName({ namespace, name }, workspace);
      const namespaceThere = clusterNamespaceOf(cluster);
      const found = deps.deployments.get(keyOf({ namespace: namespaceThere, name: own }));
      const isOfBundle = found !== undefined && bundleKeyOf(found) === keyOf(bundle);
      return isOfBundle && !isManagedElsewhere(cluster) ? found : undefined;
    },
    write,
    async catchUp(bundle, signal) {
      const [key, { uid }] = [keyOf(bundle), bundle.metadata];
      if (caughtUp.has(key) && caughtUp.get(key) === uid) return false;
      for (const deployment of await listDeployments(deps.rest, bundle, signal)) listed(deployment);
      caughtUp.set(key, uid);
      return true;
    },
    forget: (bundle) => void caughtUp.delete(bundle),
    async deleteAll(bundle, signal) {
      const deployments = await listDeployments(deps.rest, bundle, signal);
      await Promise.all(
        deployments
          .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
          .map((deployment) =>
            writes.run(async () => {
              const current = await suspend(bundle, deployment, signal);
              await remove(current.metadata, signal);
            }),
          ),
      );
    },
  };

  /** What was suspended or resumed last decides whether the release stays. */
  async function suspend(
    { spec }: Bundle,
    deployment: BundleDeployment,
    signal: AbortSignal,
  ): Promise<BundleDeployment> {
    const isOfTarget = (spec.targets ?? []).some(({ suspend }) => suspend === true);
    const isSuspended = spec.suspend === true;
    if ((isOfTarget && !isSuspended) || (deployment.spec.suspend === true) === isSuspended)
      return deployment;
    const { suspend: _, ...others } = deployment.spec;
    const next = { ...others, ...(isSuspended && { suspend: true }) };
    return await deps.rest.replace(bundleDeployments, { ...deployment, spec: next }, { signal });
  }

  async function write(plan: DeploymentPlan, signal: AbortSignal): Promise<boolean> {
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
    return isOvertaken;
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
    // A deployment of another Bundle is not changed: ours stays pending.
    if (existing === undefined || bundleKeyOf(existing) !== bundleKeyOf(deployment)) return true;
    written(existing);
    return false;
  }

  /** The store keeps what it has where that is not older. */
  function listed(deployment: BundleDeployment): void {
    const key = keyOf(deployment);
    const before = deps.deployments.get(key);
    deps.deployments.wrote(deployment);
    if (deps.deployments.get(key) !== before) deps.onWritten(key);
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
}

/** The deployments in all namespaces, from the API server. A Bundle whose name is too long for a label is not accepted, and has none. */
export async function listDeployments(
  rest: KubeRest,
  { metadata: { name, namespace = "" } }: Bundle,
  signal: AbortSignal,
): Promise<readonly BundleDeployment[]> {
  if (Math.max(name.length, namespace.length) > longestLabelValue) return [];
  const { objects } = await listAll({
    rest,
    resource: bundleDeployments,
    selection: { labelSelector: `${bundleNameLabel}=${name},${bundleNamespaceLabel}=${namespace}` },
    transform: (deployment) => deployment,
    signal,
  });
  return objects;
}
