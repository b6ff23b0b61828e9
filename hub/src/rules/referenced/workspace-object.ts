/** A Secret or ConfigMap of a workspace, as it is sent to agents. Pure. */
import type { ObjectRefKind } from "@flotilla/proto";
import {
  agentNamespace,
  bootstrapSecretName,
  hubNamespace,
  identitySecretName,
  registrationSecretType,
} from "@flotilla/shared/api/names";
import type { ConfigMap, Secret } from "@flotilla/shared/kube/objects";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import type { SentObject } from "./sent-object.ts";

/** The observed state of an object of a workspace. */
export type WorkspaceObject =
  /** Not read yet, or cannot be read. */
  | { readonly kind: "unknown" }
  | { readonly kind: "absent" }
  | {
      readonly kind: "present";
      readonly resourceVersion: string;
      /** As it is. */
      readonly object: ReferencedObjectData;
      /** As agents get it. */
      readonly sent: SentObject;
    };

/** Either kind, as it is kept in memory. */
export type StoredObject = Secret & ConfigMap;

/** Types of Secrets that are large, numerous and never sent: the records of Helm and Fleet. */
const excludedTypes = ["helm.sh/release.v1", "fleet.cattle.io/bundle-values/v1alpha1"];

/** The field selector of the watch. */
export function watchedFields(kind: ObjectRefKind): string | undefined {
  return kind === "Secret" ? excludedTypes.map((type) => `type!=${type}`).join(",") : undefined;
}

/** Types of Secrets of the hub and its agents: registration tokens, contents, assignments, keys of webhooks. */
const ownTypes = new RegExp(`^(${registrationSecretType}$|flotilla[./])`);
const ownNamespaces = [hubNamespace, agentNamespace];
const ownNames = [identitySecretName, bootstrapSecretName];

/**
 * Whether it is one of the hub's or an agent's own objects, which no agent is ever sent, no matter who refers to it: with a
 * registration token a tenant would enrol clusters, with an identity it would be another cluster.
 */
export function isOwnObject({ metadata, type }: StoredObject): boolean {
  return (
    ownTypes.test(type ?? "") ||
    ownNamespaces.includes(metadata.namespace ?? "") ||
    (type !== undefined && ownNames.includes(metadata.name))
  );
}

/** Types of Secrets with which their owner is a ServiceAccount or joins a cluster, and records of Helm with all of a release's values. */
const sensitiveTypes: readonly (string | undefined)[] = [
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
  ...excludedTypes,
];

/** Whether no agent gets it, no matter who refers to it. */
export function isNeverSent(object: StoredObject): boolean {
  return isOwnObject(object) || (object.type !== undefined && sensitiveTypes.includes(object.type));
}

/**
 * Whether a Provider or a Receiver may use a Secret: what is in it reaches an address that a tenant chooses, or proves to a tenant's
 * requests that they know it. Tenants that may not read Secrets may write both.
 */
export function isUsableByTenants(secret: Secret): boolean {
  return !isOwnObject(secret) && !sensitiveTypes.includes(secret.type);
}

/** Keeps only what identifies the object and its version. */
export function withoutContent({ metadata }: StoredObject): StoredObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

/** The part that may be sent. */
export function referencedObjectOf({
  metadata,
  type,
  data,
  binaryData,
}: StoredObject): ReferencedObjectData {
  const { labels, annotations } = metadata;
  return {
    ...(type !== undefined && { type }),
    ...(hasAny(data) && { data }),
    ...(hasAny(binaryData) && { binaryData }),
    ...(hasAny(labels) && { labels }),
    ...(hasAny(annotations) && { annotations }),
  };
}

function hasAny(
  texts: Readonly<Record<string, string>> | undefined,
): texts is Readonly<Record<string, string>> {
  return texts !== undefined && Object.keys(texts).length > 0;
}
