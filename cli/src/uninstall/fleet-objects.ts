/** Everything that a fleet has on its hub, read from the API server. A kind whose CRD is gone has no objects. */
import {
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type Cluster,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  helmOps,
  policies,
} from "@flotilla/shared/api";
import {
  clusterAnnotation,
  clusterNamespaceAnnotation,
  managedLabel,
} from "@flotilla/shared/api/names";
import { isNotFound, type KubeRest, listAll } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  type Namespace,
  namespaces,
  type Resource,
} from "@flotilla/shared/kube/objects";

export interface FleetObjects {
  readonly helmOps: readonly KubeObject[];
  readonly bundles: readonly KubeObject[];
  readonly deployments: readonly BundleDeployment[];
  readonly clusters: readonly Cluster[];
  /** The namespaces on the hub with the BundleDeployments of each cluster. */
  readonly namespaces: readonly Namespace[];
  readonly tokens: readonly KubeObject[];
  readonly groups: readonly KubeObject[];
  readonly policies: readonly KubeObject[];
}

export async function readFleetObjects(rest: KubeRest, signal: AbortSignal): Promise<FleetObjects> {
  async function all<T extends KubeObject>(
    resource: Resource<T>,
    labelSelector?: string,
  ): Promise<readonly T[]> {
    try {
      const selection = labelSelector === undefined ? {} : { labelSelector };
      const transform = (object: T) => object;
      return (await listAll({ rest, resource, selection, transform, signal })).objects;
    } catch (thrown) {
      if (isNotFound(thrown)) return [];
      throw thrown;
    }
  }

  const managed = await all(namespaces, `${managedLabel}=true`);
  return {
    helmOps: await all(helmOps),
    bundles: await all(bundles),
    deployments: await all(bundleDeployments),
    clusters: await all(clusters),
    namespaces: managed.filter((each) => clusterOfNamespace(each) !== undefined),
    tokens: await all(clusterRegistrationTokens),
    groups: await all(clusterGroups),
    policies: await all(policies),
  };
}

/** `namespace/name` of the Cluster that a cluster namespace belongs to. */
export function clusterOfNamespace({ metadata }: Namespace): string | undefined {
  const { [clusterNamespaceAnnotation]: namespace, [clusterAnnotation]: name } =
    metadata.annotations ?? {};
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}
