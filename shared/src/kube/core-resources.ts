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

export interface ReplicaSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template?: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly fullyLabeledReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface StatefulSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly serviceName?: string;
    readonly template?: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly currentReplicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface DaemonSet extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly template?: PodTemplate;
    readonly updateStrategy?: { readonly type?: string };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly currentNumberScheduled?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly numberReady?: number;
    readonly numberUnavailable?: number;
    readonly numberMisscheduled?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: {
      readonly exitCode: number;
      readonly reason?: string;
      readonly message?: string;
    };
  };
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly restartPolicy?: string;
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface Job extends KubeObject {
  readonly spec?: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly suspend?: boolean;
    readonly template?: PodTemplate;
  };
  readonly status?: {
    readonly active?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly externalIPs?: readonly string[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly protocol?: string;
      readonly targetPort?: number | string;
    }[];
  };
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
    readonly conditions?: readonly Condition[];
  };
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
  };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

export interface Ingress extends KubeObject {
  readonly spec?: {
    readonly ingressClassName?: string;
    readonly rules?: readonly { readonly host?: string }[];
  };
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly providerID?: string };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

export const namespaces = clusterScoped<Namespace>("", "v1", "Namespace", "namespaces");
export const nodes = clusterScoped<Node>("", "v1", "Node", "nodes");
export const secrets = namespaced<Secret>("", "v1", "Secret", "secrets");
export const configMaps = namespaced<ConfigMap>("", "v1", "ConfigMap", "configmaps");
export const serviceAccounts = namespaced<ServiceAccount>(
  "",
  "v1",
  "ServiceAccount",
  "serviceaccounts",
);
export const pods = namespaced<Pod>("", "v1", "Pod", "pods");
export const services = namespaced<Service>("", "v1", "Service", "services");
export const persistentVolumeClaims = namespaced<PersistentVolumeClaim>(
  "",
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
export const events = namespaced<Event>("events.k8s.io", "v1", "Event", "events");
export const leases = namespaced<Lease>("coordination.k8s.io", "v1", "Lease", "leases");
export const deployments = namespaced<Deployment>("apps", "v1", "Deployment", "deployments");
export const statefulSets = namespaced<StatefulSet>("apps", "v1", "StatefulSet", "statefulsets");
export const daemonSets = namespaced<DaemonSet>("apps", "v1", "DaemonSet", "daemonsets");
export const replicaSets = namespaced<ReplicaSet>("apps", "v1", "ReplicaSet", "replicasets");
export const jobs = namespaced<Job>("batch", "v1", "Job", "jobs");
export const ingresses = namespaced<Ingress>("networking.k8s.io", "v1", "Ingress", "ingresses");
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
