/** Status of Deployments, StatefulSets, DaemonSets and ReplicaSets. Pure. */
import {
  conditionOf,
  current,
  fieldsOf,
  inProgress,
  isObserved,
  numberOf,
  type ObjectStatus,
  type RuleInput,
  textOf,
} from "./rule-input.ts";

export function deploymentStatus(object: RuleInput): ObjectStatus {
  const { spec, status } = object;
  const desired = numberOf(spec, "replicas", 1);
  // Counts of an earlier generation do not apply.
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  const progressing = conditionOf(object, "Progressing");
  if (isObserved(object) && progressing?.reason === "ProgressDeadlineExceeded")
    return { kind: "failed", message: progressing.message ?? "exceeded its progress deadline" };
  const updated = count("updatedReplicas");
  const available = count("availableReplicas");
  const old = count("replicas") - updated;
  // While the first pods start only one count is reported, so that the message does not change constantly.
  if (!isObserved(object) || (available < desired && old <= 0))
    return inProgress(ofReplicas(available, desired, "available"));
  if (updated < desired) return inProgress(ofReplicas(updated, desired, "up to date"));
  if (old > 0)
    return inProgress(`${old} old ${old === 1 ? "replica is" : "replicas are"} being terminated`);
  if (available < updated) return inProgress(ofReplicas(available, desired, "available"));
  if (count("readyReplicas") < desired)
    return inProgress(ofReplicas(count("readyReplicas"), desired, "ready"));
  const availability = conditionOf(object, "Available");
  if (availability !== undefined && availability.status !== "True")
    return inProgress(availability.message ?? "is not available");
  return current;
}

export function statefulSetStatus(object: RuleInput): ObjectStatus {
  const { spec, status } = object;
  const desired = numberOf(spec, "replicas", 1);
  const strategy = fieldsOf(spec["updateStrategy"]);
  if (textOf(strategy, "type") === "OnDelete") return current;
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  if (!isObserved(object) || count("readyReplicas") < desired)
    return inProgress(ofReplicas(count("readyReplicas"), desired, "ready"));
  if (count("replicas") > desired)
    return inProgress(`${count("replicas") - desired} surplus replicas are being terminated`);
  const partition = numberOf(fieldsOf(strategy["rollingUpdate"]), "partition");
  if (partition > 0) {
    const toUpdate = Math.max(0, desired - partition);
    return count("updatedReplicas") < toUpdate
      ? inProgress(ofReplicas(count("updatedReplicas"), toUpdate, "up to date"))
      : current;
  }
  if (textOf(status, "currentRevision") !== textOf(status, "updateRevision"))
    return inProgress(ofReplicas(count("updatedReplicas"), desired, "up to date"));
  return current;
}

export function daemonSetStatus(object: RuleInput): ObjectStatus {
  const { spec, status } = object;
  if (!isObserved(object) || typeof status["desiredNumberScheduled"] !== "number")
    return inProgress("its pods are not scheduled yet");
  const desired = numberOf(status, "desiredNumberScheduled");
  const isManual = textOf(fieldsOf(spec["updateStrategy"]), "type") === "OnDelete";
  const counts = [
    ["currentNumberScheduled", "scheduled"],
    ...(isManual ? [] : [["updatedNumberScheduled", "up to date"] as const]),
    ["numberAvailable", "available"],
    ["numberReady", "ready"],
  ] as const;
  for (const [name, word] of counts) {
    const count = numberOf(status, name);
    if (count < desired) return inProgress(ofReplicas(count, desired, word));
  }
  return current;
}

export function replicaSetStatus(object: RuleInput): ObjectStatus {
  const { spec, status } = object;
  const desired = numberOf(spec, "replicas", 1);
  const failure = conditionOf(object, "ReplicaFailure");
  if (failure?.status === "True")
    return inProgress(failure.message ?? "a replica could not be created");
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  if (!isObserved(object) || count("availableReplicas") < desired)
    return inProgress(ofReplicas(count("availableReplicas"), desired, "available"));
  if (count("readyReplicas") < desired)
    return inProgress(ofReplicas(count("readyReplicas"), desired, "ready"));
  if (count("replicas") > desired)
    return inProgress(`${count("replicas") - desired} surplus replicas are being terminated`);
  return current;
}

function ofReplicas(count: number, desired: number, word: string): string {
  return `${count} of ${desired} ${desired === 1 ? "replica is" : "replicas are"} ${word}`;
}
