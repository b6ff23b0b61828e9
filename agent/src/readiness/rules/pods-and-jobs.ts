/** Status of Pods and Jobs. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import {
  conditionOf,
  current,
  fieldsOf,
  inProgress,
  listOf,
  type ObjectStatus,
  type RuleInput,
  textOf,
  toRuleInput,
} from "./rule-input.ts";

/** Reasons of waiting containers that do not resolve by waiting. */
const fatalReasons = new Set([
  "CrashLoopBackOff",
  "ImagePullBackOff",
  "ErrImagePull",
  "InvalidImageName",
  "CreateContainerConfigError",
  "CreateContainerError",
]);

export function podStatus(object: RuleInput): ObjectStatus {
  const { status } = object;
  const message = textOf(status, "message");
  switch (textOf(status, "phase")) {
    case "Succeeded":
      return current;
    case "Failed":
      return { kind: "failed", message: message || textOf(status, "reason") || "has failed" };
    case "Running":
    case "Pending": {
      if (conditionOf(object, "Ready")?.status === "True") return current;
      const scheduled = conditionOf(object, "PodScheduled");
      if (scheduled?.status === "False")
        return inProgress(`is not scheduled: ${scheduled.message ?? scheduled.reason ?? ""}`);
      return failedContainer(object) ?? inProgress("its containers are not ready");
    }
    default:
      return inProgress("is being started");
  }
}

function failedContainer({ status }: RuleInput): ObjectStatus | undefined {
  for (const container of [
    ...listOf(status["initContainerStatuses"]),
    ...listOf(status["containerStatuses"]),
  ]) {
    const reason = textOf(fieldsOf(fieldsOf(container["state"])["waiting"]), "reason");
    if (!fatalReasons.has(reason)) continue;
    return { kind: "failed", message: `container ${textOf(container, "name")}: ${reason}` };
  }
  return undefined;
}

/** A running Job is current, as in kstatus. */
/** Whether a Job has succeeded; kstatus takes one as current as soon as it runs. */
export function isComplete(job: KubeObject): boolean {
  return conditionOf(toRuleInput(job), "Complete")?.status === "True";
}

export function jobStatus(object: RuleInput): ObjectStatus {
  const failed = conditionOf(object, "Failed");
  if (failed?.status === "True")
    return { kind: "failed", message: failed.message ?? failed.reason ?? "has failed" };
  if (conditionOf(object, "Complete")?.status === "True" || object.spec["suspend"] === true)
    return current;
  return textOf(object.status, "startTime") === "" ? inProgress("has not been started") : current;
}
