/** When a Pod is well. Pure. */
import {
  conditionOf,
  current,
  fieldsOf,
  type Judged,
  listOf,
  type ObjectStatus,
  textOf,
  waiting,
} from "../judged.ts";

/** A container that waits for one of these does not come up by waiting. */
const stuck = new Set([
  "CrashLoopBackOff",
  "ImagePullBackOff",
  "ErrImagePull",
  "InvalidImageName",
  "CreateContainerConfigError",
  "CreateContainerError",
]);

export function podStatus(object: Judged): ObjectStatus {
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
        return waiting(`is not scheduled: ${scheduled.message ?? scheduled.reason ?? ""}`);
      return containerTrouble(object) ?? waiting("its containers are not ready");
    }
    default:
      return waiting("is being started");
  }
}

function containerTrouble({ status }: Judged): ObjectStatus | undefined {
  for (const container of [
    ...listOf(status["initContainerStatuses"]),
    ...listOf(status["containerStatuses"]),
  ]) {
    const reason = textOf(fieldsOf(fieldsOf(container["state"])["waiting"]), "reason");
    if (!stuck.has(reason)) continue;
    return { kind: "failed", message: `container ${textOf(container, "name")}: ${reason}` };
  }
  return undefined;
}
