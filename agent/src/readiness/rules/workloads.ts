/** When Deployments, StatefulSets, DaemonSets and ReplicaSets are well. Pure. */
import {
  conditionOf,
  current,
  fieldsOf,
  isObserved,
  type Judged,
  numberOf,
  type ObjectStatus,
  textOf,
  waiting,
} from "../judged.ts";

export function deploymentStatus(object: Judged): ObjectStatus {
  const { spec, status } = object;
  const wanted = numberOf(spec, "replicas", 1);
  // Counts of an earlier generation say nothing of this one.
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  const progressing = conditionOf(object, "Progressing");
  if (isObserved(object) && progressing?.reason === "ProgressDeadlineExceeded")
    return { kind: "failed", message: progressing.message ?? "made no progress for too long" };
  const updated = count("updatedReplicas");
  const available = count("availableReplicas");
  const old = count("replicas") - updated;
  // While the first pods come up only one number counts, so that there is one message and not a series.
  if (!isObserved(object) || (available < wanted && old <= 0))
    return waiting(ofReplicas(available, wanted, "available"));
  if (updated < wanted) return waiting(ofReplicas(updated, wanted, "up to date"));
  if (old > 0)
    return waiting(`${old} old ${old === 1 ? "replica is" : "replicas are"} being ended`);
  if (available < updated) return waiting(ofReplicas(available, wanted, "available"));
  if (count("readyReplicas") < wanted)
    return waiting(ofReplicas(count("readyReplicas"), wanted, "ready"));
  const availability = conditionOf(object, "Available");
  if (availability !== undefined && availability.status !== "True")
    return waiting(availability.message ?? "is not available");
  return current;
}

export function statefulSetStatus(object: Judged): ObjectStatus {
  const { spec, status } = object;
  const wanted = numberOf(spec, "replicas", 1);
  const strategy = fieldsOf(spec["updateStrategy"]);
  if (textOf(strategy, "type") === "OnDelete") return current;
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  if (!isObserved(object) || count("readyReplicas") < wanted)
    return waiting(ofReplicas(count("readyReplicas"), wanted, "ready"));
  if (count("replicas") > wanted)
    return waiting(`${count("replicas") - wanted} more replicas than wanted are being ended`);
  const partition = numberOf(fieldsOf(strategy["rollingUpdate"]), "partition");
  if (partition > 0) {
    const toUpdate = Math.max(0, wanted - partition);
    return count("updatedReplicas") < toUpdate
      ? waiting(ofReplicas(count("updatedReplicas"), toUpdate, "up to date"))
      : current;
  }
  if (textOf(status, "currentRevision") !== textOf(status, "updateRevision"))
    return waiting(ofReplicas(count("updatedReplicas"), wanted, "up to date"));
  return current;
}

export function daemonSetStatus(object: Judged): ObjectStatus {
  const { spec, status } = object;
  if (!isObserved(object) || typeof status["desiredNumberScheduled"] !== "number")
    return waiting("its pods are not scheduled yet");
  const wanted = numberOf(status, "desiredNumberScheduled");
  const isManual = textOf(fieldsOf(spec["updateStrategy"]), "type") === "OnDelete";
  const counts = [
    ["currentNumberScheduled", "scheduled"],
    ...(isManual ? [] : [["updatedNumberScheduled", "up to date"] as const]),
    ["numberAvailable", "available"],
    ["numberReady", "ready"],
  ] as const;
  for (const [name, word] of counts) {
    const count = numberOf(status, name);
    if (count < wanted) return waiting(ofReplicas(count, wanted, word));
  }
  return current;
}

export function replicaSetStatus(object: Judged): ObjectStatus {
  const { spec, status } = object;
  const wanted = numberOf(spec, "replicas", 1);
  const failure = conditionOf(object, "ReplicaFailure");
  if (failure?.status === "True")
    return waiting(failure.message ?? "a replica could not be created");
  const count = (name: string): number => (isObserved(object) ? numberOf(status, name) : 0);
  if (!isObserved(object) || count("availableReplicas") < wanted)
    return waiting(ofReplicas(count("availableReplicas"), wanted, "available"));
  if (count("readyReplicas") < wanted)
    return waiting(ofReplicas(count("readyReplicas"), wanted, "ready"));
  if (count("replicas") > wanted)
    return waiting(`${count("replicas") - wanted} more replicas than wanted are being ended`);
  return current;
}

function ofReplicas(count: number, wanted: number, word: string): string {
  return `${count} of ${wanted} ${wanted === 1 ? "replica is" : "replicas are"} ${word}`;
}
