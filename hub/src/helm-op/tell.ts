/** Tells people what became of a HelmOp: its outcome, from which its status is made, and events. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import type { HelmOpIntent, Outcomes } from "../status/intent.ts";

export interface TellDeps {
  readonly outcomes: Outcomes;
  /** Has the status of a HelmOp told anew. */
  readonly markStatus: (key: ObjectKey) => void;
  readonly events: EventRecorder;
}

export function tell(deps: TellDeps, helmOp: HelmOp, intent: HelmOpIntent): void {
  const key = keyOf(helmOp);
  deps.outcomes.helmOps.set(key, intent);
  if (
    intent.version !== undefined &&
    intent.version !== "" &&
    intent.version !== helmOp.status?.version
  ) {
    deps.events.record(helmOp, {
      type: "Normal",
      reason: "GotNewChartVersion",
      action: "ResolveChart",
      note: intent.version,
    });
  }
  deps.markStatus(key);
}

/** Once for each generation, also when the hub has started anew since. */
export function warn(deps: TellDeps, helmOp: HelmOp, remarks: readonly string[]): void {
  if (remarks.length === 0) return;
  const generation = helmOp.metadata.generation ?? 0;
  const told = findCondition(helmOp.status?.conditions, "Accepted")?.observedGeneration;
  if (told === generation || deps.outcomes.helmOps.get(keyOf(helmOp))?.generation === generation)
    return;
  deps.events.record(helmOp, {
    type: "Warning",
    reason: "UnknownField",
    action: "ReadSpec",
    note: remarks.join("; "),
  });
}
