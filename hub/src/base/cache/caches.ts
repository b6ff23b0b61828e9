/** The informers of a replica of the hub. */
import {
  type Bundle,
  type BundleDeployment,
  type BundleNamespaceMapping,
  bundleDeployments,
  bundleNamespaceMappings,
  bundles,
  type Cluster,
  type ClusterGroup,
  type ClusterRegistrationToken,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  type HelmOp,
  helmOps,
  type Policy,
  policies,
  type Schedule,
  schedules,
} from "@flotilla/shared/api";
import { hubNamespace, hubReplicaLabel, managedLabel } from "@flotilla/shared/api/names";
import {
  type BundleRollout,
  bundleRollouts,
  type Gate,
  gates,
  type RolloutPolicy,
  rolloutPolicies,
} from "@flotilla/shared/api/rollout";
import {
  createInformer,
  createOptionalInformers,
  type Informer,
  keepLastWriter,
} from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  type Lease,
  leases,
  metadataOf,
  type Namespace,
  namespaces,
  type Resource,
  type Secret,
  secrets,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { contentLabel } from "./keys.ts";
import { createTextSharing } from "./shared-texts.ts";

export interface Caches {
  readonly helmOps: Informer<HelmOp>;
  readonly bundles: Informer<Bundle>;
  readonly deployments: Informer<BundleDeployment>;
  readonly clusters: Informer<Cluster>;
  readonly groups: Informer<ClusterGroup>;
  readonly policies: Informer<Policy>;
  readonly schedules: Informer<Schedule>;
  readonly mappings: Informer<BundleNamespaceMapping>;
  /** All Namespaces with their labels, which mappings select. */
  readonly workspaces: Informer<KubeObject>;
  readonly rollouts: Informer<BundleRollout>;
  readonly gates: Informer<Gate>;
  readonly rolloutPolicies: Informer<RolloutPolicy>;
  readonly tokens: Informer<ClusterRegistrationToken>;
  /** Contents' Secrets without their data. */
  readonly contents: Informer<Secret>;
  /** The clusters' own namespaces. */
  readonly namespaces: Informer<Namespace>;
  /** The replicas' own Leases. */
  readonly replicas: Informer<Lease>;
}

export function createCaches(rest: KubeRest, log: Log): Caches {
  function cache<T extends KubeObject>(
    resource: Resource<T>,
    options: {
      readonly namespace?: string;
      readonly labelSelector?: string;
      readonly transform?: (object: T) => T;
    } = {},
  ): Informer<T> {
    return createInformer<T>({
      rest,
      resource,
      log: log.child({ cache: resource.plural }),
      ...options,
    });
  }
  // The definitions of these kinds may be installed after the hub.
  const optional = createOptionalInformers({ rest, log });
  const rollouts = optional.add(bundleRollouts, cache(bundleRollouts));
  return {
    helmOps: cache(helmOps, { transform: keepLastWriter }),
    bundles: cache(bundles, { transform: keepLastWriter }),
    deployments: cache(bundleDeployments, { transform: createTextSharing() }),
    clusters: cache(clusters),
    groups: cache(clusterGroups),
    policies: cache(policies),
    schedules: cache(schedules),
    mappings: optional.add(bundleNamespaceMappings, cache(bundleNamespaceMappings)),
    workspaces: cache(metadataOf(namespaces), { transform: namesAndLabels }),
    // Runs all of them.
    rollouts: runningWith(rollouts, optional.run),
    gates: optional.add(gates, cache(gates)),
    rolloutPolicies: optional.add(rolloutPolicies, cache(rolloutPolicies)),
    tokens: cache(clusterRegistrationTokens),
    contents: cache(secrets, {
      namespace: hubNamespace,
      labelSelector: `${contentLabel}=true`,
      transform: withoutData,
    }),
    namespaces: cache(namespaces, { labelSelector: `${managedLabel}=true` }),
    replicas: cache(leases, { namespace: hubNamespace, labelSelector: `${hubReplicaLabel}=true` }),
  };
}

/** The same informer, run in another way. */
function runningWith<T extends KubeObject>(
  informer: Informer<T>,
  run: Informer<T>["run"],
): Informer<T> {
  const { store, synced, refresh, onChange, clear } = informer;
  return {
    store,
    synced,
    refresh,
    onChange,
    clear,
    run,
    get hasSynced() {
      return informer.hasSynced;
    },
  };
}

/** Lists and watches until `signal` aborts. */
export async function runCaches(caches: Caches, signal: AbortSignal): Promise<void> {
  await Promise.all(
    Object.values(caches).map((informer: Informer<KubeObject>) => informer.run(signal)),
  );
}

/** Resolves once every first list is complete. */
export async function cachesSynced(caches: Caches): Promise<void> {
  await Promise.all(Object.values(caches).map((informer: Informer<KubeObject>) => informer.synced));
}

/**
 * Lists again what a newly elected leader decides by: a watch that died silently, which takes half a minute to notice, must not
 * make it undo what the former leader did since. Not the BundleDeployments, of which there are thousands: a write with an old
 * resourceVersion conflicts, and one that exists already is found when it is created; staged rollouts list the objects of their
 * Bundle. Resolves also when `signal` aborts.
 */
export async function refreshCaches(
  {
    helmOps,
    bundles,
    clusters,
    groups,
    policies,
    schedules,
    mappings,
    workspaces,
    rollouts,
    gates,
  }: Caches,
  signal: AbortSignal,
): Promise<void> {
  const refreshed: readonly Pick<Informer<KubeObject>, "refresh">[] = [
    helmOps,
    bundles,
    clusters,
    groups,
    policies,
    schedules,
    // Without one of them deployments to other namespaces would be withdrawn.
    mappings,
    workspaces,
    rollouts,
    gates,
  ];
  await Promise.all(refreshed.map((informer) => informer.refresh(signal)));
}

/** Ten thousand clusters have as many namespaces. */
function namesAndLabels({ metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, labels } = metadata;
  return {
    metadata: {
      name,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(labels !== undefined && { labels }),
    },
  };
}

function withoutData({ data: _, ...secret }: Secret): Secret {
  return secret;
}
