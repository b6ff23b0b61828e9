/** Everything that a fleet has on its hub, read from the API server. A kind whose CRD is gone has no objects. */
import {
  type BundleDeployment,
  bundleDeployments,
  bundleNamespaceMappings,
  type Cluster,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  policies,
  schedules,
} from "@flotilla/shared/api";
import { type AppKind, appDefinition, appKinds } from "@flotilla/shared/api/apps";
import {
  clusterAnnotation,
  clusterNamespaceAnnotation,
  fluxFinalizer,
  fluxLeaseNames,
  managedLabel,
} from "@flotilla/shared/api/names";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmRepositories,
  ociRepositories,
  receivers,
} from "@flotilla/shared/flux";
import { isNotFound, type KubeRest, listAll, type Selection } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  leases,
  type Namespace,
  namespaces,
  type Resource,
} from "@flotilla/shared/kube/objects";

export interface FleetObjects {
  /** By kind. None of a kind that is left to Flux while a Lease of its controllers exists. */
  readonly apps: ReadonlyMap<AppKind, readonly KubeObject[]>;
  readonly deployments: readonly BundleDeployment[];
  readonly clusters: readonly Cluster[];
  /** The namespaces on the hub with the BundleDeployments of each cluster. */
  readonly namespaces: readonly Namespace[];
  readonly tokens: readonly KubeObject[];
  readonly groups: readonly KubeObject[];
  readonly policies: readonly KubeObject[];
  readonly schedules: readonly KubeObject[];
  readonly mappings: readonly KubeObject[];
  /** None while a Lease of Flux's controllers exists: they are Flux's then, as the sources. */
  readonly receivers: readonly KubeObject[];
  /** Those that still have the finalizer that Flux's controllers set, by kind. */
  readonly heldSources: readonly (readonly [Resource<KubeObject>, readonly KubeObject[]])[];
  /** `namespace/name` of a Lease of Flux's controllers. */
  readonly fluxLease?: string;
}

const sourceKinds: readonly Resource<KubeObject>[] = [
  helmRepositories,
  ociRepositories,
  gitRepositories,
  buckets,
  helmCharts,
];

export async function readFleetObjects(rest: KubeRest, signal: AbortSignal): Promise<FleetObjects> {
  async function all<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection = {},
  ): Promise<readonly T[]> {
    try {
      const transform = (object: T) => object;
      return (await listAll({ rest, resource, selection, transform, signal })).objects;
    } catch (thrown) {
      if (isNotFound(thrown)) return [];
      throw thrown;
    }
  }

  const managed = await all(namespaces, { labelSelector: `${managedLabel}=true` });
  const fluxLease = await fluxLeaseOf(rest, signal);
  const ofHub = async (resource: Resource<KubeObject>) =>
    fluxLease === undefined ? await all(resource) : [];
  const apps = new Map<AppKind, readonly KubeObject[]>();
  for (const kind of appKinds) {
    const { resource, yieldsToFlux } = appDefinition(kind);
    apps.set(kind, await (yieldsToFlux ? ofHub : all)(resource));
  }
  const heldSources: (readonly [Resource<KubeObject>, readonly KubeObject[]])[] = [];
  for (const kind of sourceKinds)
    heldSources.push([
      kind,
      (await ofHub(kind)).filter(({ metadata }) => metadata.finalizers?.includes(fluxFinalizer)),
    ]);
  return {
    apps,
    deployments: await all(bundleDeployments),
    clusters: await all(clusters),
    namespaces: managed.filter((each) => clusterOfNamespace(each) !== undefined),
    tokens: await all(clusterRegistrationTokens),
    groups: await all(clusterGroups),
    policies: await all(policies),
    schedules: await all(schedules),
    mappings: await all(bundleNamespaceMappings),
    receivers: await ofHub(receivers),
    heldSources,
    ...(fluxLease !== undefined && { fluxLease }),
  };
}

/** `namespace/name` of a Lease of Flux's controllers, renewed or not. */
export async function fluxLeaseOf(
  rest: KubeRest,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const name of fluxLeaseNames) {
    const { items } = await rest.list(leases, { fieldSelector: `metadata.name=${name}`, signal });
    const [found] = items;
    if (found !== undefined) return keyOf(found);
  }
  return undefined;
}

/** `namespace/name` of the Cluster that a cluster namespace belongs to. */
export function clusterOfNamespace({ metadata }: Namespace): string | undefined {
  const { [clusterNamespaceAnnotation]: namespace, [clusterAnnotation]: name } =
    metadata.annotations ?? {};
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}
