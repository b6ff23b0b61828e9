/** Kubernetes objects as plain JSON, and the handles that say where a kind lives in the API. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The metadata that the product reads or writes. What else the API server sends is kept, but has no name here. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Opaque: only ever compared for equality. */
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  /** RFC 3339, UTC, whole seconds. */
  readonly creationTimestamp?: string;
  /** Set once somebody asked for the deletion; the object stays until its finalizers are gone. */
  readonly deletionTimestamp?: string;
}

/** Any object of the Kubernetes API. Objects from a store are shared and must never be changed in place. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** Where the objects of one kind live in the API. The type parameter ties a handle to the type of its objects. */
export interface Resource<T extends KubeObject> {
  /** The API group; "" is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: carries the type of the objects. */
  readonly __object?: T;
}

/** The name of an object; `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** A name as one string, `namespace/name` or `name`: what stores and work queues are keyed by. */
export type ObjectKey = string;

export function keyOf(object: KubeObject | ObjectRef): ObjectKey {
  const ref: ObjectRef = "metadata" in object ? object.metadata : object;
  return ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
}

export function refOf(key: ObjectKey): ObjectRef {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** `apiVersion` as objects carry it: `v1`, `apps/v1`. */
export function apiVersionOf(resource: Resource<KubeObject>): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}
