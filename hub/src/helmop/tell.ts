/** Tells people what became of a HelmOp: its outcome, from which its status is made, and events. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import type { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { HelmOpIntent, Outcomes, PollOutcome } from "../status/intent.ts";

export interface TellDeps {
  readonly outcomes: Outcomes;
  /** Has the status of a HelmOp told anew. */
  readonly markStatus: (key: ObjectKey) => void;
  readonly events: EventRecorder;
}

/**
 * That its charts are looked for, where nothing was told of this generation yet. It is in the status only when it takes
 * longer than a moment. `polled`: the last poll, as it is still told.
 */
export function tellBegun(deps: TellDeps, helmOp: HelmOp, polled: PollOutcome | undefined): void {
  const key = keyOf(helmOp);
  const generation = helmOp.metadata.generation ?? 0;
  const before = deps.outcomes.helmOps.get(key);
  if (before?.generation === generation || toldGeneration(helmOp) === generation) return;
  const { accepted: _, stalled: _s, polled: _p, ...kept } = before ?? {};
  deps.outcomes.helmOps.set(key, {
    ...kept,
    ...(polled !== undefined && { polled }),
    generation,
  });
  deps.markStatus(key);
}

export function tell(deps: TellDeps, helmOp: HelmOp, intent: HelmOpIntent): void {
  const key = keyOf(helmOp);
  const { version = "" } = intent;
  const before = deps.outcomes.helmOps.get(key)?.version ?? helmOp.status?.version;
  deps.outcomes.helmOps.set(key, intent);
  if (version !== "" && version !== before) {
    deps.events.record(helmOp, {
      type: "Normal",
      reason: "GotNewChartVersion",
      action: "ResolveChart",
      note: version,
    });
  }
  deps.markStatus(key);
}

export function tellFailure(deps: TellDeps, helmOp: HelmOp, error: AppError): void {
  deps.events.record(helmOp, {
    type: "Warning",
    reason: "FailedToGetNewChartVersion",
    action: "ResolveChart",
    note: error.message,
  });
}

/** Once for each generation, also when the hub has started anew since. */
export function warn(deps: TellDeps, helmOp: HelmOp, remarks: readonly string[]): void {
  if (remarks.length === 0) return;
  const { generation } = helmOp.metadata;
  if (
    toldGeneration(helmOp) === generation ||
    deps.outcomes.helmOps.get(keyOf(helmOp))?.generation === generation
  )
    return;
  deps.events.record(helmOp, {
    type: "Warning",
    reason: "UnknownField",
    action: "ReadSpec",
    note: remarks.join("; "),
  });
}

/** The generation that the status speaks of. */
function toldGeneration({ status }: HelmOp): number | undefined {
  return findCondition(status?.conditions, "Accepted")?.observedGeneration;
}
