/** The status of one object, by the rules of kstatus, which Flux and Helm use too. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import {
  conditionOf,
  crdStatus,
  current,
  daemonSetStatus,
  deploymentStatus,
  inProgress,
  isStale,
  jobStatus,
  type ObjectStatus,
  podStatus,
  pvcStatus,
  type RuleInput,
  replicaSetStatus,
  sayingOf,
  serviceStatus,
  statefulSetStatus,
  toRuleInput,
} from "./rules/index.ts";

type Rule = (object: RuleInput) => ObjectStatus;

/** They read the observed generation themselves: their messages count the replicas that are not of this generation. */
const workloads: Readonly<Record<string, Rule>> = {
  "apps/Deployment": deploymentStatus,
  "apps/StatefulSet": statefulSetStatus,
  "apps/DaemonSet": daemonSetStatus,
  "apps/ReplicaSet": replicaSetStatus,
  "/ReplicationController": replicaSetStatus,
};

const rules: Readonly<Record<string, Rule>> = {
  ...workloads,
  "/Pod": podStatus,
  "batch/Job": jobStatus,
  "/PersistentVolumeClaim": pvcStatus,
  "/Service": serviceStatus,
  "apiextensions.k8s.io/CustomResourceDefinition": crdStatus,
  "policy/PodDisruptionBudget": () => current,
  // For these only the conventions of all kinds apply.
  "autoscaling/HorizontalPodAutoscaler": readyStatus,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": readyStatus,
  "networking.k8s.io/ServiceCIDR": readyStatus,
};

/** Groups whose other kinds are current as soon as they exist. */
const plainGroups = new Set([
  "",
  "apps",
  "batch",
  "rbac.authorization.k8s.io",
  "networking.k8s.io",
  "policy",
  "autoscaling",
  "scheduling.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "node.k8s.io",
  "flowcontrol.apiserver.k8s.io",
]);

/** Whether the status of this kind depends on more than its existence. */
export function hasStatus(group: string, kind: string): boolean {
  return rules[`${group}/${kind}`] !== undefined || !plainGroups.has(group);
}

export function statusOf(group: string, kind: string, object: KubeObject): ObjectStatus {
  if (object.metadata.deletionTimestamp !== undefined)
    return { kind: "terminating", message: "is being deleted" };
  const groupKind = `${group}/${kind}`;
  if (!hasStatus(group, kind)) return current;
  const input = toRuleInput(object);
  const rule = rules[groupKind] ?? readyStatus;
  if (!isStale(input)) return conventionalStatus(input) ?? rule(input);
  return (
    workloads[groupKind]?.(input) ??
    inProgress("its controller has not observed the latest change yet")
  );
}

/** By the conditions that mean the same for every kind. Stalled wins: its controller does not go on by itself. */
function conventionalStatus(object: RuleInput): ObjectStatus | undefined {
  const stalled = conditionOf(object, "Stalled");
  if (stalled?.status === "True")
    return { kind: "failed", message: sayingOf(stalled, "is stalled") };
  const reconciling = conditionOf(object, "Reconciling");
  if (reconciling?.status === "True")
    return inProgress(sayingOf(reconciling, "is being reconciled"));
  return undefined;
}

/** A kind without the condition Ready is current. */
function readyStatus(object: RuleInput): ObjectStatus {
  const ready = conditionOf(object, "Ready");
  if (ready === undefined || ready.status === "True") return current;
  return inProgress(sayingOf(ready, "is not ready"));
}
