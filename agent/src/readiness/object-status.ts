/** The status of one object, by the rules of kstatus, which Flux and Helm use too. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import {
  conditionOf,
  crdStatus,
  daemonSetStatus,
  deploymentStatus,
  jobStatus,
  type ObjectStatus,
  podStatus,
  pvcStatus,
  type RuleInput,
  replicaSetStatus,
  serviceStatus,
  statefulSetStatus,
  toRuleInput,
} from "./rules/index.ts";

type Rule = (object: RuleInput) => ObjectStatus;

const rules: Readonly<Record<string, Rule>> = {
  "apps/Deployment": deploymentStatus,
  "apps/StatefulSet": statefulSetStatus,
  "apps/DaemonSet": daemonSetStatus,
  "apps/ReplicaSet": replicaSetStatus,
  "/ReplicationController": replicaSetStatus,
  "/Pod": podStatus,
  "batch/Job": jobStatus,
  "/PersistentVolumeClaim": pvcStatus,
  "/Service": serviceStatus,
  "apiextensions.k8s.io/CustomResourceDefinition": crdStatus,
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
  const { deletionTimestamp, generation } = object.metadata;
  if (deletionTimestamp !== undefined) return { kind: "terminating", message: "is being deleted" };
  if (!hasStatus(group, kind)) return { kind: "current" };
  const input = toRuleInput(object);
  const own = rules[`${group}/${kind}`];
  if (own !== undefined) return own(input);
  const { observedGeneration } = input.status;
  if (typeof observedGeneration === "number" && observedGeneration < (generation ?? 0))
    return { kind: "inProgress", message: "its controller has not observed the latest change yet" };
  return genericStatus(input);
}

/** By the conventional conditions. */
function genericStatus(object: RuleInput): ObjectStatus {
  const stalled = conditionOf(object, "Stalled");
  if (stalled?.status === "True")
    return { kind: "failed", message: stalled.message ?? stalled.reason ?? "is stalled" };
  const reconciling = conditionOf(object, "Reconciling");
  if (reconciling?.status === "True")
    return { kind: "inProgress", message: reconciling.message ?? "is being reconciled" };
  const ready = conditionOf(object, "Ready");
  if (ready === undefined || ready.status === "True") return { kind: "current" };
  return { kind: "inProgress", message: ready.message ?? ready.reason ?? "is not ready" };
}
