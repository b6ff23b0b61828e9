/** Kubernetes objects as plain JSON, their references and keys, and the resources that they belong to. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The metadata that the product reads or writes. Other fields of the API server are kept, but not declared here. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Compared by `isLaterVersion` only. */
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  /** RFC 3339, UTC, whole seconds. */
  readonly creationTimestamp?: string;
  /** Set when the deletion was requested; the object stays until its finalizers are removed. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  /** The managed fields of an object from a store: only as `keepLastWriter` leaves it, or none. */
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
}

/** A program that has written fields of an object, and when. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: unknown;
}

/** Any object of the Kubernetes API. Objects from a store are shared and must never be changed in place. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** A resource of the API: group, version and kind, and its name in paths. T is the type of its objects. */
export interface Resource<T extends KubeObject> {
  /** The API group; "" is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Lists and watches have the objects' metadata alone. */
  readonly metadataOnly?: boolean;
  /** Never set: it carries the type of the objects. */
  readonly __object?: T;
}

/** The same resource, of which lists and watches have the metadata alone. */
export function metadataOf(resource: Resource<KubeObject>): Resource<KubeObject> {
  return { ...resource, metadataOnly: true };
}

/** The namespaced name of an object; `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** A namespaced name as one string, `namespace/name` or `name`: the key of stores and work queues. */
export type ObjectKey = string;

export function keyOf(object: KubeObject | ObjectRef): ObjectKey {
  const ref: ObjectRef = "metadata" in object ? object.metadata : object;
  return ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
}

export function refOf(key: ObjectKey): ObjectRef {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The `apiVersion` of its objects: `v1`, `apps/v1`. */
export function apiVersionOf(resource: Resource<KubeObject>): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

const comparableVersion = /^[1-9][0-9]*$/;

/**
 * Whether resourceVersion `one` is later than `other`, of one kind on one API server. They are positive integers of any
 * length that only grow (KEP-5504, Kubernetes 1.35; earlier API servers count in the same way). Every version is later
 * than `undefined`; what is not an integer is neither earlier nor later.
 */
export function isLaterVersion(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || !comparableVersion.test(one)) return false;
  if (other === undefined) return true;
  if (!comparableVersion.test(other)) return false;
  return one.length === other.length ? one > other : one.length > other.length;
}
