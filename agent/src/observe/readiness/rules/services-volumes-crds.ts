/** Status of Services, PersistentVolumeClaims and CustomResourceDefinitions. Pure. */
import {
  conditionOf,
  current,
  fieldsOf,
  inProgress,
  listOf,
  type ObjectStatus,
  type RuleInput,
  sayingOf,
  textOf,
} from "./rule-input.ts";

/** kstatus does not wait for the address of a load balancer; Helm and Fleet do. */
export function serviceStatus({ spec, status }: RuleInput): ObjectStatus {
  if (textOf(spec, "type") !== "LoadBalancer") return current;
  const hasOwnAddress = Array.isArray(spec["externalIPs"]) && spec["externalIPs"].length > 0;
  if (hasOwnAddress || listOf(fieldsOf(status["loadBalancer"])["ingress"]).length > 0)
    return current;
  return inProgress("has no load balancer address yet");
}

/** In kstatus a claim that has lost its volume is in progress. */
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
    return { kind: "failed", message: sayingOf(names, "its names are taken") };
  const established = conditionOf(object, "Established");
  if (established?.status === "True") return current;
  if (established?.status === "False" && established.reason !== "Installing")
    return { kind: "failed", message: sayingOf(established, "is not established") };
  return inProgress("is not established yet");
}
