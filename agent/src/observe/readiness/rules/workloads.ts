/**
 * Status of Deployments, StatefulSets, DaemonSets and ReplicaSets, by the rules of kstatus, except that a DaemonSet with strategy
 * OnDelete need not be up to date: nothing would ever update it. Pure.
 */
import {
  conditionOf,
  current,
  fieldsOf,
  inProgress,
  isObserved,
  numberOf,
  type ObjectStatus,
  type RuleInput,
  sayingOf,
  textOf,
} from "./rule-input.ts";

export function deploymentStatus(object: RuleInput): ObjectStatus {
  const { spec, status } = object;
  const desired = numberOf(spec, "replicas", 1);
  // Counts of an earlier generation do not apply.
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  const progressing = conditionOf(object, "Progressing");
  if (isObserved(object) && progressing?.reason === "ProgressDeadlineExceeded")
    return { kind: "failed", message: sayingOf(progressing, "exceeded its progress deadline") };
  const updated = count("updatedReplicas");
  const available = count("availableReplicas");
  const old = count("replicas") - updated;
  const failure = replicaFailure(object);
  if (failure !== undefined && updated < desired) return failure;
  // While the first pods start only one count is reported, so that the message does not change constantly.
  if (!isObserved(object) || (available < desired && old <= 0))
    return inProgress(ofReplicas(available, desired, "available"));
  if (updated < desired) return inProgress(ofReplicas(updated, desired, "up to date"));
  // The controller keeps old replicas until the new ones are available.
  const missing = count("replicas") - available;
  if (old > 0 && missing > 0)
    return inProgress(
      `its rollout waits for ${missing} ${missing === 1 ? "replica that is" : "replicas that are"} not available`,
    );
  if (old > 0)
    return inProgress(`${old} old ${old === 1 ? "replica is" : "replicas are"} being terminated`);
  if (count("replicas") > desired) return surplus(count("replicas") - desired);
  if (available < updated) return inProgress(ofReplicas(available, desired, "available"));
  if (count("readyReplicas") < desired)
    return inProgress(ofReplicas(count("readyReplicas"), desired, "ready"));
  // Without a deadline the controller sets no such condition.
  const hasDeadline = numberOf(spec, "progressDeadlineSeconds", noDeadline) !== noDeadline;
  const isComplete =
    progressing?.status === "True" && progressing.reason === "NewReplicaSetAvailable";
  if (hasDeadline && !isComplete)
    return inProgress(sayingOf(progressing, "its rollout is not complete"));
  const availability = conditionOf(object, "Available");
  return availability?.status === "True"
    ? current
    : inProgress(sayingOf(availability, "is not available"));
}

/** The value that disables the deadline of a Deployment. */
const noDeadline = 2 ** 31 - 1;

export function statefulSetStatus(object: RuleInput): ObjectStatus {
  const { spec, status } = object;
  const desired = numberOf(spec, "replicas", 1);
  const strategy = fieldsOf(spec["updateStrategy"]);
  if (isObserved(object) && textOf(strategy, "type") === "OnDelete") return current;
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  if (!isObserved(object) || count("readyReplicas") < desired)
    return inProgress(ofReplicas(count("readyReplicas"), desired, "ready"));
  if (count("replicas") > desired) return surplus(count("replicas") - desired);
  const { partition } = fieldsOf(strategy["rollingUpdate"]);
  // The API server sets it to 0 with strategy RollingUpdate.
  if (typeof partition === "number") {
    const toUpdate = Math.max(0, desired - partition);
    return count("updatedReplicas") < toUpdate
      ? inProgress(ofReplicas(count("updatedReplicas"), toUpdate, "up to date"))
      : current;
  }
  if (
    count("currentReplicas") < desired ||
    textOf(status, "currentRevision") !== textOf(status, "updateRevision")
  )
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
  const failure = replicaFailure(object);
  if (failure !== undefined) return failure;
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  if (!isObserved(object) || count("availableReplicas") < desired)
    return inProgress(ofReplicas(count("availableReplicas"), desired, "available"));
  if (count("readyReplicas") < desired)
    return inProgress(ofReplicas(count("readyReplicas"), desired, "ready"));
  if (count("fullyLabeledReplicas") < desired)
    return inProgress(ofReplicas(count("fullyLabeledReplicas"), desired, "labelled"));
  return count("replicas") > desired ? surplus(count("replicas") - desired) : current;
}

/** Pods that could not be created, for example because of a quota. */
function replicaFailure(object: RuleInput): ObjectStatus | undefined {
  const failure = conditionOf(object, "ReplicaFailure");
  return failure?.status === "True"
    ? inProgress(sayingOf(failure, "a replica could not be created"))
    : undefined;
}

function surplus(count: number): ObjectStatus {
  return inProgress(
    `${count} surplus ${count === 1 ? "replica is" : "replicas are"} being terminated`,
  );
}

function ofReplicas(count: number, desired: number, word: string): string {
  return `${count} of ${desired} ${desired === 1 ? "replica is" : "replicas are"} ${word}`;
}
