/** The REST mapping of Kubernetes' own kinds, which never changes and needs no discovery. */
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";

/** `apiVersion`, then each kind with its plural; `*` marks cluster-scoped kinds. */
const table: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [
    "v1",
    {
      ConfigMap: "configmaps",
      Endpoints: "endpoints",
      LimitRange: "limitranges",
      Namespace: "namespaces*",
      PersistentVolume: "persistentvolumes*",
      PersistentVolumeClaim: "persistentvolumeclaims",
      Pod: "pods",
      ReplicationController: "replicationcontrollers",
      ResourceQuota: "resourcequotas",
      Secret: "secrets",
      Service: "services",
      ServiceAccount: "serviceaccounts",
    },
  ],
  [
    "apps/v1",
    {
      DaemonSet: "daemonsets",
      Deployment: "deployments",
      ReplicaSet: "replicasets",
      StatefulSet: "statefulsets",
    },
  ],
  ["batch/v1", { CronJob: "cronjobs", Job: "jobs" }],
  [
    "rbac.authorization.k8s.io/v1",
    {
      ClusterRole: "clusterroles*",
      ClusterRoleBinding: "clusterrolebindings*",
      Role: "roles",
      RoleBinding: "rolebindings",
    },
  ],
  [
    "networking.k8s.io/v1",
    { Ingress: "ingresses", IngressClass: "ingressclasses*", NetworkPolicy: "networkpolicies" },
  ],
  ["policy/v1", { PodDisruptionBudget: "poddisruptionbudgets" }],
  ["autoscaling/v2", { HorizontalPodAutoscaler: "horizontalpodautoscalers" }],
  ["scheduling.k8s.io/v1", { PriorityClass: "priorityclasses*" }],
  ["storage.k8s.io/v1", { StorageClass: "storageclasses*" }],
  [
    "admissionregistration.k8s.io/v1",
    {
      MutatingWebhookConfiguration: "mutatingwebhookconfigurations*",
      ValidatingWebhookConfiguration: "validatingwebhookconfigurations*",
    },
  ],
  ["apiextensions.k8s.io/v1", { CustomResourceDefinition: "customresourcedefinitions*" }],
];

export function builtInKind(apiVersion: string, kind: string): Resource<KubeObject> | undefined {
  const entry = table.find(([version]) => version === apiVersion)?.[1][kind];
  if (entry === undefined) return undefined;
  return {
    ...groupVersionOf(apiVersion),
    kind,
    plural: entry.replace("*", ""),
    namespaced: !entry.endsWith("*"),
  };
}

export function groupVersionOf(apiVersion: string): {
  readonly group: string;
  readonly version: string;
} {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}
