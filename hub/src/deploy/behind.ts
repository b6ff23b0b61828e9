/**
 * Whether what a Bundle's deployments were planned from is older than what the API server has. A watch may have died without
 * a word: until that is noticed, which takes as long as a connection takes to break, its cache is behind the others. Who
 * wrote the objects has them in the cache all the same; who has just come to lead has not, and asks before anything is taken
 * away or put back to what it was.
 */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names.ts";
import {
  bundleDeployments,
  bundles,
  clusterGroups,
  clusters,
} from "@flotilla/shared/api/resources.ts";
import { listAll } from "@flotilla/shared/kube/list-all.ts";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import { clusterKeyOf } from "./deployment-cluster.ts";
import type { DeploymentPlan } from "./plan-deployments.ts";

export interface BehindDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly deployments: Store<BundleDeployment>;
}

/** `groups`: those of the Bundle's namespace, as the plan was made with them. */
export async function isPlanBehind(
  { rest, clusters: known }: BehindDeps,
  bundle: Bundle,
  plan: Pick<DeploymentPlan, "replace" | "remove">,
  groups: readonly ClusterGroup[],
  signal: AbortSignal,
): Promise<boolean> {
  if (plan.replace.length === 0 && plan.remove.length === 0) return false;
  if (await isOlder(rest, bundles, bundle, signal)) return true;
  if (plan.remove.length === 0) return false;
  const { namespace = "" } = bundle.metadata;
  const listed = await rest.list(clusterGroups, { namespace, signal });
  if (!isSame(listed.items, groups)) return true;
  for (const deployment of plan.remove) {
    const cluster = known.get(clusterKeyOf(deployment));
    if (cluster !== undefined && (await isOlder(rest, clusters, cluster, signal))) return true;
  }
  return false;
}

/** Whether the Bundle has deployments that the cache does not know yet. */
export async function hasUnknownDeployments(
  { rest, deployments: known }: BehindDeps,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<boolean> {
  const { name, namespace } = bundle.metadata;
  const { objects } = await listAll({
    rest,
    resource: bundleDeployments,
    selection: {
      labelSelector: `${bundleNameLabel}=${name},${bundleNamespaceLabel}=${namespace ?? ""}`,
    },
    transform: (deployment) => deployment,
    signal,
  });
  return objects.some((deployment) => known.get(keyOf(deployment)) === undefined);
}

async function isOlder<T extends KubeObject>(
  rest: KubeRest,
  resource: Resource<T>,
  known: T,
  signal: AbortSignal,
): Promise<boolean> {
  const current = await rest.get(resource, known.metadata, { signal });
  return current?.metadata.resourceVersion !== known.metadata.resourceVersion;
}

function isSame(one: readonly KubeObject[], other: readonly KubeObject[]): boolean {
  const versions = new Map(one.map((object) => [keyOf(object), object.metadata.resourceVersion]));
  return (
    one.length === other.length &&
    other.every((object) => versions.get(keyOf(object)) === object.metadata.resourceVersion)
  );
}
