/**
 * The namespace on the hub that a Cluster has for its BundleDeployments. It records the client that enrolled, and is
 * deleted after the Cluster, when the registration token has that record. Pure.
 */

import { createHash } from "node:crypto";
import type { Cluster } from "@flotilla/shared/api";
import {
  clientAnnotation,
  clusterAnnotation,
  clusterNamespaceAnnotation,
  clusterNamespaceName,
  fleetClusterNamespaceName,
  managedLabel,
  registrationTokenAnnotation,
} from "@flotilla/shared/api/names";
import { keyOf, type Namespace, type ObjectKey } from "@flotilla/shared/kube/objects";

/** A cluster that was removed, as its registration token remembers it. */
export interface RemovedClient {
  /** UID of the token that it enrolled with last. */
  readonly token: string;
  /** `clientDigest` of its client id. */
  readonly client: string;
}

const digestLength = 16;

/** Which namespace a Cluster has, or gets. */
export type NamespaceChoice =
  | {
      readonly kind: "own";
      readonly name: string;
      /** The one that it had until now, which is another Cluster's. */
      readonly left?: TakenNamespace;
    }
  | ({ readonly kind: "taken" } & TakenNamespace);

/** A namespace that belongs to another Cluster. */
export interface TakenNamespace {
  readonly name: string;
  readonly owner: ObjectKey;
}

/**
 * The name of a Cluster's namespace. It follows from the names of the Cluster; the status decides only whether Fleet's name is
 * kept, so that nobody who writes a status can have a Cluster use any other namespace.
 */
export function clusterNamespaceOf({ metadata, status }: Cluster): string {
  const { namespace: workspace = "", name } = metadata;
  const current = status?.namespace;
  const ours = clusterNamespaceName(workspace, name);
  if (current === undefined || current === ours) return ours;
  return current === fleetClusterNamespaceName(workspace, name) ? current : ours;
}

/** Every name that the namespace of a Cluster may have. */
export function clusterNamespaceNames(workspace: string, name: string): readonly string[] {
  return [
    ...new Set([clusterNamespaceName(workspace, name), fleetClusterNamespaceName(workspace, name)]),
  ];
}

/**
 * A namespace of another Cluster is never taken over: Fleet's shortened names collide, and the deletion of one Cluster would
 * uninstall the other. `find`: a namespace by its name.
 */
export function chooseNamespace(
  cluster: Cluster,
  find: (name: string) => Namespace | undefined,
): NamespaceChoice {
  const { namespace: workspace = "", name: clusterName } = cluster.metadata;
  const key = keyOf(cluster);
  const ownerOf = (name: string): ObjectKey | undefined => {
    const namespace = find(name);
    return namespace && clusterKeyOfNamespace(namespace);
  };
  const name = clusterNamespaceName(workspace, clusterName);
  const fleetName = fleetClusterNamespaceName(workspace, clusterName);
  const current = cluster.status?.namespace;
  const fleetOwner = fleetName === name ? undefined : ownerOf(fleetName);
  // A hub that was restored from a backup has the namespaces, and Clusters without a status.
  if (current === undefined && fleetOwner === key) return { kind: "own", name: fleetName };
  if (current === fleetName && (fleetOwner ?? key) === key && fleetName !== name)
    return { kind: "own", name: fleetName };
  const owner = ownerOf(name) ?? key;
  if (owner !== key) return { kind: "taken", name, owner };
  const hasLeft = current === fleetName && fleetOwner !== undefined;
  return { kind: "own", name, ...(hasLeft && { left: { name: fleetName, owner: fleetOwner } }) };
}

/** The namespace of a Cluster under the name that was chosen for it. */
export function clusterNamespaceFor(
  cluster: Cluster,
  namespaceName = clusterNamespaceOf(cluster),
): Namespace {
  const { namespace = "", name } = cluster.metadata;
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespaceName,
      labels: { [managedLabel]: "true" },
      annotations: {
        [clusterNamespaceAnnotation]: namespace,
        [clusterAnnotation]: name,
        ...enrolmentAnnotations(cluster),
      },
    },
  };
}

/** The annotations of a namespace that the hub has set, of those that it has. */
export function clusterNamespaceKeys(
  annotations: Readonly<Record<string, string>>,
): readonly string[] {
  const own = [
    clusterNamespaceAnnotation,
    clusterAnnotation,
    registrationTokenAnnotation,
    clientAnnotation,
  ];
  return own.filter((key) => annotations[key] !== undefined);
}

/**
 * Whether a Cluster has its namespace. One that is being deleted belongs to an earlier Cluster, or is deleted with this
 * one.
 */
export function hasNamespace({ metadata }: Cluster, namespace: Namespace | undefined): boolean {
  if (namespace === undefined) return false;
  return (
    namespace.metadata.deletionTimestamp === undefined || metadata.deletionTimestamp !== undefined
  );
}

/** The key of the Cluster that a namespace belongs to; undefined for every other namespace. */
export function clusterKeyOfNamespace(namespace: Namespace): ObjectKey | undefined {
  const { [clusterNamespaceAnnotation]: workspace, [clusterAnnotation]: name } =
    namespace.metadata.annotations ?? {};
  return workspace === undefined || name === undefined ? undefined : `${workspace}/${name}`;
}

/** The annotations for the client that enrolled; none for a Cluster that was not enrolled with a token. */
export function enrolmentAnnotations({
  metadata,
  spec,
}: Cluster): Readonly<Record<string, string>> {
  const token = metadata.annotations?.[registrationTokenAnnotation];
  if (token === undefined || !spec.clientID) return {};
  return {
    [registrationTokenAnnotation]: token,
    [clientAnnotation]: clientDigest(spec.clientID),
  };
}

/** Whether the namespace has no record of the enrolment yet, or one of an earlier enrolment. */
export function isEnrolmentOutdated({ metadata }: Namespace, cluster: Cluster): boolean {
  return Object.entries(enrolmentAnnotations(cluster)).some(
    ([name, value]) => metadata.annotations?.[name] !== value,
  );
}

/** Who has enrolled as the Cluster of this namespace, and with which token. */
export function removedClientOf({ metadata }: Namespace): RemovedClient | undefined {
  const { [registrationTokenAnnotation]: token, [clientAnnotation]: client } =
    metadata.annotations ?? {};
  return token === undefined || client === undefined ? undefined : { token, client };
}

/** Digest of a client id: the id may be long, and must not be readable by a user who may only read tokens. */
export function clientDigest(clientId: string): string {
  return createHash("sha256").update(clientId).digest("hex").slice(0, digestLength);
}
