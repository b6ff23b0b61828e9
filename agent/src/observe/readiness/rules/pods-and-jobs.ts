/** Status of Pods and Jobs. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { podReason } from "./pod-reason.ts";
import {
  conditionOf,
  current,
  inProgress,
  type ObjectStatus,
  type RuleInput,
  sayingOf,
  textOf,
  toRuleInput,
} from "./rule-input.ts";

/** In kstatus a pod that has failed is current, and one that is not scheduled fails after 15 seconds. */
export function podStatus(object: RuleInput): ObjectStatus {
  const { status } = object;
  switch (textOf(status, "phase")) {
    case "Succeeded":
      return current;
    case "Failed":
      return { kind: "failed", message: podReason(object)?.message ?? "has failed" };
    case "Running":
    case "Pending": {
      if (conditionOf(object, "Ready")?.status === "True") return current;
      const reason = podReason(object);
      return reason?.kind === "failed"
        ? { kind: "failed", message: reason.message }
        : inProgress(reason?.message ?? "its containers are not ready");
    }
    default:
      return inProgress("is being started");
  }
}

/** Whether a Job has succeeded or failed; kstatus takes one as current as soon as it runs. */
export function hasEnded(job: KubeObject): boolean {
  const input = toRuleInput(job);
  return ["Complete", "Failed"].some((type) => conditionOf(input, type)?.status === "True");
}

/** A running Job is current, as in kstatus; there a suspended one is in progress. */
export function jobStatus(object: RuleInput): ObjectStatus {
  const failed = conditionOf(object, "Failed");
  if (failed?.status === "True") return { kind: "failed", message: sayingOf(failed, "has failed") };
  if (conditionOf(object, "Complete")?.status === "True" || object.spec["suspend"] === true)
    return current;
  return textOf(object.status, "startTime") === "" ? inProgress("has not been started") : current;
}
