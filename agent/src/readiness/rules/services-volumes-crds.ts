/** Status of Services, PersistentVolumeClaims and CustomResourceDefinitions. Pure. */
import {
  conditionOf,
  current,
  fieldsOf,
  inProgress,
  listOf,
  type ObjectStatus,
  type RuleInput,
  textOf,
} from "./rule-input.ts";

export function serviceStatus({ spec, status }: RuleInput): ObjectStatus {
  if (textOf(spec, "type") !== "LoadBalancer") return current;
  const hasOwnAddress = Array.isArray(spec["externalIPs"]) && spec["externalIPs"].length > 0;
  if (hasOwnAddress || listOf(fieldsOf(status["loadBalancer"])["ingress"]).length > 0)
    return current;
  return inProgress("has no load balancer address yet");
}

export function pvcStatus({ status }: RuleInput): ObjectStatus {
  const phase = textOf(status, "phase");
  if (phase === "Bound") return current;
  return phase === "Lost"
    ? { kind: "failed", message: "has lost its volume" }
    : inProgress("is not bound to a volume yet");
}

export function crdStatus(object: RuleInput): ObjectStatus {
  const names = conditionOf(object, "NamesAccepted");
  if (names?.status === "False")
    return { kind: "failed", message: names.message ?? "its names are taken" };
  return conditionOf(object, "Established")?.status === "True"
    ? current
    : inProgress("is not established yet");
}
