/** When Services, PersistentVolumeClaims and CustomResourceDefinitions are well. Pure. */
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

export function serviceStatus({ spec, status }: Judged): ObjectStatus {
  if (textOf(spec, "type") !== "LoadBalancer") return current;
  const hasOwnAddress = Array.isArray(spec["externalIPs"]) && spec["externalIPs"].length > 0;
  if (hasOwnAddress || listOf(fieldsOf(status["loadBalancer"])["ingress"]).length > 0)
    return current;
  return waiting("has no address of a load balancer yet");
}

export function pvcStatus({ status }: Judged): ObjectStatus {
  const phase = textOf(status, "phase");
  if (phase === "Bound") return current;
  return phase === "Lost"
    ? { kind: "failed", message: "has lost its volume" }
    : waiting("is not bound to a volume yet");
}

export function crdStatus(object: Judged): ObjectStatus {
  const names = conditionOf(object, "NamesAccepted");
  if (names?.status === "False")
    return { kind: "failed", message: names.message ?? "its names are taken" };
  return conditionOf(object, "Established")?.status === "True"
    ? current
    : waiting("is not established yet");
}
