/** What a HelmOp's conditions say. Pure. */
import type { HelmOpStatus } from "@flotilla/shared/api/helm-op.ts";
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import { findCondition, type NewCondition } from "@flotilla/shared/conditions/condition.ts";
import type { HelmOpIntent } from "../status/intent.ts";
import type { Verdict } from "../summary/ready-condition.ts";

/** All of them but Ready's verdict, which is given. Those that are missing are not to be there. */
export function helmOpConditions(
  intent: HelmOpIntent,
  ready: Verdict,
  summary: BundleSummary,
  before: HelmOpStatus | undefined,
): readonly NewCondition[] {
  return [
    ...acceptedCondition(intent),
    ...polledCondition(intent),
    { type: "Ready", ...ready },
    reconcilingCondition(intent, ready, summary, before),
    intent.stalled === undefined
      ? { type: "Stalled", status: "False" }
      : { type: "Stalled", status: "True", ...intent.stalled },
  ];
}

function acceptedCondition({ accepted }: HelmOpIntent): readonly NewCondition[] {
  if (accepted === undefined) return [];
  const { ok, message = "" } = accepted;
  return [
    ok
      ? { type: "Accepted", status: "True", message }
      : { type: "Accepted", status: "False", reason: "Error", message },
  ];
}

function polledCondition({ polled }: HelmOpIntent): readonly NewCondition[] {
  if (polled === undefined) return [];
  return [
    polled.error === undefined
      ? { type: "Polled", status: "True" }
      : { type: "Polled", status: "False", reason: "Error", message: polled.error },
  ];
}

/**
 * True while something is under way that ends by itself. What does not go on is Stalled instead: programs take a resource
 * for failed or for under way, and never for both.
 */
function reconcilingCondition(
  intent: HelmOpIntent,
  ready: Verdict,
  summary: BundleSummary,
  before: HelmOpStatus | undefined,
): NewCondition {
  if (intent.stalled !== undefined || !isUnderWay(ready, summary, before))
    return { type: "Reconciling", status: "False" };
  return { type: "Reconciling", status: "True", reason: ready.reason, message: ready.message };
}

function isUnderWay(
  ready: Verdict,
  { pending = 0, waitApplied = 0, outOfSync = 0, notReady = 0 }: BundleSummary,
  before: HelmOpStatus | undefined,
): boolean {
  // A cluster that is away comes back some day, or never: nothing goes on until then.
  if (ready.status === "True" || ready.reason === "Offline") return false;
  // That something could not be handed out is tried again.
  if (ready.status === "Unknown" || ready.reason === "Error") return true;
  if (pending + waitApplied + outOfSync > 0) return true;
  // A workload that is not ready belongs to a rollout that has begun; it begins none when it fails later.
  return notReady > 0 && findCondition(before?.conditions, "Reconciling")?.status !== "False";
}
