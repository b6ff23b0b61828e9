/** The kinds of Kubernetes itself that the product uses, with the fields that it reads or writes. */
import type { KubeObject, ObjectRef, Resource } from "./object.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

export interface Secret extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>;
  /** Write only: the server turns it into `data`. */
  readonly stringData?: Readonly<Record<string, string>>;
}

export interface ConfigMap extends KubeObject {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  /** Values in base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface ServiceAccount extends KubeObject {
  readonly secrets?: readonly ObjectRef[];
}

/** What an Event speaks of. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** `events.k8s.io/v1`. */
export interface Event extends KubeObject {
  /** RFC 3339 with microseconds. */
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly note?: string;
  readonly type: "Normal" | "Warning";
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    /** RFC 3339 with microseconds. */
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface CustomResourceDefinition extends KubeObject {
  readonly spec?: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular?: string;
      readonly shortNames?: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly schema?: unknown;
    }[];
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly storedVersions?: readonly string[];
  };
}

export interface Container {
  readonly name: string;
  readonly image?: string;
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
}

export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly progressDeadlineSeconds?: number;
    readonly selector?: LabelSelector;
    readonly template?: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly unavailableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

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
export const leases = namespaced<Lease>("coordination.k8s.io", "v1", "Lease", "leases");
export const deployments = namespaced<Deployment>("apps", "v1", "Deployment", "deployments");
export const customResourceDefinitions = clusterScoped<CustomResourceDefinition>(
  "apiextensions.k8s.io",
  "v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
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
