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
  managedLabel,
  registrationTokenAnnotation,
} from "@flotilla/shared/api/names";
import type { Namespace, ObjectKey } from "@flotilla/shared/kube/objects";

/** A cluster that was removed, as its registration token remembers it. */
export interface RemovedClient {
  /** UID of the token that it enrolled with last. */
  readonly token: string;
  /** `clientDigest` of its client id. */
  readonly client: string;
}

const digestLength = 16;

export function clusterNamespaceFor(cluster: Cluster): Namespace {
  const { namespace = "", name } = cluster.metadata;
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: clusterNamespaceName(namespace, name),
      labels: { [managedLabel]: "true" },
      annotations: {
        [clusterNamespaceAnnotation]: namespace,
        [clusterAnnotation]: name,
        ...enrolmentAnnotations(cluster),
      },
    },
  };
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
