/**
 * What to remove of a fleet next, from what it still has. Pure. Called again until nothing is left, so that it can be interrupted
 * and repeated at any time.
 *
 * With the releases: the objects of front ends and then Bundles go first, and Clusters once their agents have uninstalled
 * everything, because a deployment of a deleted Cluster is not uninstalled. For the same reason Clusters go first when the releases
 * stay; then nothing waits for anybody, and our finalizers are removed here, where a hub may not exist any more.
 */
import {
  bundleDeployments,
  bundleNamespaceMappings,
  type Cluster,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  isManagedElsewhere,
  policies,
  schedules,
} from "@flotilla/shared/api";
import { type AppKind, appDefinition, appKinds, frontEndKinds } from "@flotilla/shared/api/apps";
import {
  bundleDeploymentFinalizer,
  clusterFinalizer,
  clusterLabel,
  clusterNamespaceLabel,
  fleetScheduleFinalizer,
  fluxFinalizer,
} from "@flotilla/shared/api/names";
import { receivers } from "@flotilla/shared/flux";
import { type KubeObject, keyOf, namespaces, type Resource } from "@flotilla/shared/kube/objects";
import { clusterOfNamespace, type FleetObjects } from "./fleet-objects.ts";

export interface Removal {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
  /** `release`: remove our finalizer, and what would put it back. */
  readonly action: "delete" | "release";
}

export interface RemovalPlan {
  readonly removals: readonly Removal[];
  /** What has to be gone before the next step; empty when nothing is left. */
  readonly waitingFor: readonly Waiting[];
}

export interface Waiting {
  readonly kind: string;
  readonly objects: readonly KubeObject[];
}

/** A kind, its objects, its finalizer of ours, and whether its objects stay, without the finalizer. */
type Group = readonly [Resource<KubeObject>, readonly KubeObject[], string?, "stays"?];

export function planRemoval(
  fleet: FleetObjects,
  { keepReleases }: { readonly keepReleases: boolean },
): RemovalPlan {
  const managedElsewhere = new Set(fleet.clusters.filter(isManagedElsewhere).map(keyOf));
  const own: FleetObjects = {
    ...fleet,
    clusters: fleet.clusters.filter((cluster) => !isManagedElsewhere(cluster)),
    deployments: fleet.deployments.filter((each) => !managedElsewhere.has(clusterOf(each))),
    namespaces: fleet.namespaces.filter(
      (each) => !managedElsewhere.has(clusterOfNamespace(each) ?? ""),
    ),
  };
  const phases = keepReleases ? keepingPhases(own) : uninstallPhases(own);
  const phase = phases.find((groups) => groups.some(([, objects]) => objects.length > 0)) ?? [];
  return {
    removals: phase.flatMap((group) => removalsOf(group, keepReleases)),
    waitingFor: phase.flatMap(([{ kind }, objects]) =>
      objects.length === 0 ? [] : [{ kind, objects }],
    ),
  };
}

/** The Clusters that stay, because another system manages them. */
export function managedElsewhere(fleet: FleetObjects): readonly Cluster[] {
  return fleet.clusters.filter(isManagedElsewhere);
}

/** In each phase everything goes at once; the next one waits for it. Tokens go first, so that no cluster enrols. */
function uninstallPhases(fleet: FleetObjects): readonly (readonly Group[])[] {
  return [
    [[clusterRegistrationTokens, fleet.tokens], ...appGroups(fleet, frontEndKinds)],
    appGroups(fleet, ["Bundle"]),
    [[bundleDeployments, fleet.deployments, bundleDeploymentFinalizer]],
    [[clusters, fleet.clusters, clusterFinalizer]],
    remaining(fleet),
  ];
}

function keepingPhases(fleet: FleetObjects): readonly (readonly Group[])[] {
  return [
    [
      [clusterRegistrationTokens, fleet.tokens],
      [clusters, fleet.clusters, clusterFinalizer],
    ],
    appGroups(fleet, frontEndKinds),
    appGroups(fleet, ["Bundle"]),
    [[bundleDeployments, fleet.deployments, bundleDeploymentFinalizer]],
    remaining(fleet),
  ];
}

function appGroups({ apps }: FleetObjects, kinds: readonly AppKind[]): readonly Group[] {
  return kinds.map((kind): Group => {
    const { resource, finalizer } = appDefinition(kind);
    return [resource, apps.get(kind) ?? [], finalizer];
  });
}

function remaining(fleet: FleetObjects): readonly Group[] {
  return [
    [namespaces, fleet.namespaces],
    [clusterGroups, fleet.groups],
    [policies, fleet.policies],
    [schedules, fleet.schedules, fleetScheduleFinalizer],
    [bundleNamespaceMappings, fleet.mappings],
    [receivers, fleet.receivers, fluxFinalizer],
    // No hub and no controller of Flux would remove it when they are deleted.
    ...fleet.heldSources.map(
      ([resource, objects]): Group => [resource, objects, fluxFinalizer, "stays"],
    ),
  ];
}

function removalsOf(
  [resource, objects, finalizer, stays]: Group,
  releases: boolean,
): readonly Removal[] {
  return objects.flatMap((object): Removal[] => {
    if (stays !== undefined) return [{ resource, object, action: "release" }];
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    const isHeld = releases && finalizer !== undefined && finalizers.includes(finalizer);
    // The hub adds its finalizer again to an object that is not being deleted; a Cluster it would begin to empty.
    const releasesFirst = isHeld && resource.kind === clusters.kind;
    const release = { resource, object, action: "release" } as const;
    if (releasesFirst) return [release];
    if (deletionTimestamp === undefined) return [{ resource, object, action: "delete" }];
    return isHeld ? [release] : [];
  });
}

/** The key of the Cluster that a BundleDeployment was made for. */
export function clusterOf({ metadata }: KubeObject): string {
  const { [clusterNamespaceLabel]: namespace = "", [clusterLabel]: name = "" } =
    metadata.labels ?? {};
  return `${namespace}/${name}`;
}

/** The metadata patch that lets an object go; a Cluster is not emptied by a hub that runs. */
export function releasePatch({ resource, object }: Removal): unknown {
  const { uid, finalizers = [] } = object.metadata;
  const ours = [
    ...appKinds.map((kind) => appDefinition(kind).finalizer),
    bundleDeploymentFinalizer,
    clusterFinalizer,
    fleetScheduleFinalizer,
    fluxFinalizer,
  ];
  return {
    metadata: { uid, finalizers: finalizers.filter((name) => !ours.includes(name)) },
    ...(resource.kind === clusters.kind && { spec: { deletionPolicy: "Retain" } }),
  };
}
