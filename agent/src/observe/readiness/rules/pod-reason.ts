/** Why a pod is not ready, in the words of the scheduler and the kubelet. Pure. */
import { containerReason } from "./container-reason.ts";
import { conditionOf, listOf, type RuleInput, sayingOf, textOf } from "./rule-input.ts";
import { shortText } from "./short-text.ts";

export interface PodReason {
  /**
   * `failed`: a container cannot be started, or ends again and again; `unscheduled`: no node; `unready`: its containers run;
   * `ended`: the pod has failed, and is not started again.
   */
  readonly kind: "failed" | "unscheduled" | "unready" | "ended";
  /** Without what changes by itself, as the delay before the next start. */
  readonly message: string;
}

/** Undefined while the pod is ready, has succeeded, or is being started without a problem. */
export function podReason(pod: RuleInput): PodReason | undefined {
  const { status } = pod;
  const phase = textOf(status, "phase");
  const ready = conditionOf(pod, "Ready");
  if (phase === "Succeeded" || ready?.status === "True") return undefined;
  const reasons = [
    ...listOf(status["initContainerStatuses"]).map((each) => containerReason(each, "init")),
    ...listOf(status["containerStatuses"]).map((each) => containerReason(each, "main")),
  ].filter((reason) => reason !== undefined);
  if (phase === "Failed") return { kind: "ended", message: endOf(pod, reasons[0]?.message) };
  const scheduled = conditionOf(pod, "PodScheduled");
  if (scheduled?.status === "False") {
    const sentence = shortText(sayingOf(scheduled, "the scheduler does not say why"));
    return { kind: "unscheduled", message: `is not scheduled: ${sentence}` };
  }
  if (scheduled === undefined && isUntouched(pod))
    return { kind: "unscheduled", message: "is not scheduled: no scheduler has taken it yet" };
  const worst = reasons.find(({ kind }) => kind === "failed") ?? reasons[0];
  if (worst !== undefined) return worst;
  // All containers are ready, but not what the pod's readiness gates wait for.
  return ready?.reason === "ReadinessGatesNotReady"
    ? { kind: "unready", message: shortText(sayingOf(ready, "")) }
    : undefined;
}

/** Neither a scheduler nor a kubelet has written its status: its scheduler may not run, or may not exist. */
function isUntouched({ spec, status, conditions }: RuleInput): boolean {
  return (
    textOf(status, "phase") === "Pending" &&
    conditions.length === 0 &&
    textOf(spec, "nodeName") === "" &&
    ["initContainerStatuses", "containerStatuses"].every(
      (each) => listOf(status[each]).length === 0,
    )
  );
}

/** As of an evicted pod, or one whose container ended with an error. */
function endOf({ status }: RuleInput, container: string | undefined): string {
  const own = [textOf(status, "reason"), textOf(status, "message")].filter((part) => part !== "");
  return own.length > 0 ? shortText(own.join(": ")) : (container ?? "has failed");
}
