/** The kinds of Kubernetes itself that the product uses: their types and resources. */
import type {
  EventsV1Event,
  V1ConfigMap,
  V1CustomResourceDefinition,
  V1Deployment,
  V1EndpointSlice,
  V1Lease,
  V1Namespace,
  V1Secret,
  V1SelfSubjectReview,
  V1Service,
  V1ServiceAccount,
} from "@kubernetes/client-node";
import type { KubeObject, Resource } from "./object.ts";

/**
 * The JSON that the classes of the official client represent: readonly, times as RFC 3339 texts, names as in the API.
 * Only the types of that package are used: at run time it would cost 60 to 90 MB of memory.
 */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? readonly Json<E>[]
    : T extends object
      ? { readonly [K in keyof T as JsonName<K>]: Json<T[K]> }
      : T;

/** The client's models have `_enum` for `enum`, and `x_kubernetes_group_version_kind` for names with dashes. */
type JsonName<K> = K extends `_${infer Name}`
  ? Name
  : K extends `x_kubernetes_${string}`
    ? Dashed<K>
    : K;
type Dashed<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}-${Dashed<Tail>}`
  : S;

/** A model as an object of the API, with the metadata that every stored object has. */
export type Kubernetes<T> = KubeObject & Omit<Json<T>, keyof KubeObject>;

export type Namespace = Kubernetes<V1Namespace>;
export type Secret = Kubernetes<V1Secret>;
export type ConfigMap = Kubernetes<V1ConfigMap>;
export type ServiceAccount = Kubernetes<V1ServiceAccount>;
/** `events.k8s.io/v1`. */
export type Event = Kubernetes<EventsV1Event>;
export type Lease = Kubernetes<V1Lease>;
export type CustomResourceDefinition = Kubernetes<V1CustomResourceDefinition>;
export type Deployment = Kubernetes<V1Deployment>;
export type Service = Kubernetes<V1Service>;
export type EndpointSlice = Kubernetes<V1EndpointSlice>;
/** Who makes the request; it is not stored. */
export type SelfSubjectReview = Kubernetes<V1SelfSubjectReview>;

export const namespaces = clusterScoped<Namespace>("", "v1", "Namespace", "namespaces");
export const secrets = namespaced<Secret>("", "v1", "Secret", "secrets");
export const configMaps = namespaced<ConfigMap>("", "v1", "ConfigMap", "configmaps");
export const serviceAccounts = namespaced<ServiceAccount>(
  "",
  "v1",
  "ServiceAccount",
  "serviceaccounts",
);
export const events = namespaced<Event>("events.k8s.io", "v1", "Event", "events");
export const selfSubjectReviews = clusterScoped<SelfSubjectReview>(
  "authentication.k8s.io",
  "v1",
  "SelfSubjectReview",
  "selfsubjectreviews",
);
export const leases = namespaced<Lease>("coordination.k8s.io", "v1", "Lease", "leases");
export const services = namespaced<Service>("", "v1", "Service", "services");
export const endpointSlices = namespaced<EndpointSlice>(
  "discovery.k8s.io",
  "v1",
  "EndpointSlice",
  "endpointslices",
);
export const deployments = namespaced<Deployment>("apps", "v1", "Deployment", "deployments");
export const customResourceDefinitions = clusterScoped<CustomResourceDefinition>(
  "apiextensions.k8s.io",
  "v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);
export const validatingAdmissionPolicies = clusterScoped<KubeObject>(
  "admissionregistration.k8s.io",
  "v1",
  "ValidatingAdmissionPolicy",
  "validatingadmissionpolicies",
);
export const validatingAdmissionPolicyBindings = clusterScoped<KubeObject>(
  "admissionregistration.k8s.io",
  "v1",
  "ValidatingAdmissionPolicyBinding",
  "validatingadmissionpolicybindings",
);

function namespaced<T extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
): Resource<T> {
  return { group, version, kind, plural, namespaced: true };
}

function clusterScoped<T extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
): Resource<T> {
  return { group, version, kind, plural, namespaced: false };
}
