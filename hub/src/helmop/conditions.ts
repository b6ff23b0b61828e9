/** The conditions of a HelmOp except Ready, from its status. Pure. */

import type { BundleSummary, Condition, HelmOp, HelmOpStatus } from "@flotilla/shared/api";
import { findCondition, type NewCondition } from "@flotilla/shared/conditions";
import { type ConditionState, chartNotResolved, remarksOn } from "../frontend/index.ts";
import { attemptText, notesOn, pollingIntervalMs } from "../resolve/index.ts";
import { resolutionStateOf } from "./decided-status.ts";

export interface ConditionInputs {
  readonly helmOp: HelmOp;
  /** The status that the reconcile decided. */
  readonly status: HelmOpStatus;
  readonly ready: ConditionState;
  readonly summary: BundleSummary;
  /** Remarks on the archives that the clusters report. */
  readonly differing: string | undefined;
}

/** Conditions that exist only while they apply are omitted. */
export function helmOpConditions(inputs: ConditionInputs): readonly NewCondition[] {
  const { helmOp, status, ready, summary } = inputs;
  const isObserved = status.observedGeneration === helmOp.metadata.generation;
  const stalled = isObserved
    ? stalledCondition(helmOp, status)
    : findCondition(status.conditions, "Stalled");
  const polled = isObserved
    ? polledCondition(helmOp, status)
    : findCondition(status.conditions, "Polled");
  return [
    ...acceptedCondition(inputs),
    ...(polled === undefined ? [] : [polled]),
    { type: "Ready", ...ready },
    reconcilingCondition(status, ready, summary, stalled?.status === "True"),
    stalled ?? { type: "Stalled", status: "False" },
  ];
}

/** The message of True is composed of remarks; False is as the reconcile decided it. */
function acceptedCondition({
  helmOp,
  status,
  differing,
}: ConditionInputs): readonly NewCondition[] {
  const accepted = findCondition(status.conditions, "Accepted");
  if (accepted?.observedGeneration !== status.observedGeneration || accepted === undefined)
    return [];
  if (accepted.status !== "True" || accepted.observedGeneration !== helmOp.metadata.generation)
    return [accepted];
  const notes = [...notesOn(status.pins ?? []), ...remarksOn(helmOp)];
  return [
    {
      type: "Accepted",
      status: "True",
      message: [...notes, ...(differing === undefined ? [] : [differing])].join("; "),
    },
  ];
}

/** Exists while the HelmOp is polled. */
function polledCondition(helmOp: HelmOp, status: HelmOpStatus): NewCondition | undefined {
  if (pollingIntervalMs(helmOp) === undefined || !status.lastPollingTriggered) return undefined;
  const message = problemOf(status);
  return message === undefined
    ? { type: "Polled", status: "True" }
    : { type: "Polled", status: "False", reason: "Error", message };
}

/** Why the last attempt failed; with the time of the next one where one is scheduled. */
function problemOf(status: HelmOpStatus): string | undefined {
  const { error } = status.polling ?? {};
  if (error === undefined) return undefined;
  const { attempt, ...state } = resolutionStateOf(status);
  const shown = isRejected(status) ? { error } : attempt;
  return attemptText({ ...state, attempt: shown });
}

/** Not accepted for another reason than a failed request to its source: no attempt is made. */
function isRejected(status: HelmOpStatus): boolean {
  const accepted = currentAccepted(status);
  return accepted?.status === "False" && accepted.reason !== chartNotResolved;
}

function currentAccepted({ conditions, observedGeneration }: HelmOpStatus): Condition | undefined {
  const accepted = findCondition(conditions, "Accepted");
  return accepted?.observedGeneration === observedGeneration ? accepted : undefined;
}

function stalledCondition(helmOp: HelmOp, status: HelmOpStatus): NewCondition {
  const accepted = currentAccepted(status);
  const message =
    accepted === undefined
      ? undefined
      : accepted.status === "False"
        ? (accepted.message ?? "")
        : helmOp.spec.suspend === true
          ? undefined
          : (problemOf(status) ?? status.pinCheck?.error);
  if (message === undefined) return { type: "Stalled", status: "False" };
  const reason = status.polling?.requestFailed === true ? "RequestFailed" : "Stalled";
  return { type: "Stalled", status: "True", reason, message };
}

/**
 * True while something is in progress that ends by itself. What does not is Stalled instead: tools take a resource as failed
 * or as in progress, and never as both.
 */
function reconcilingCondition(
  before: HelmOpStatus,
  ready: ConditionState,
  summary: BundleSummary,
  isStalled: boolean,
): NewCondition {
  if (isStalled || !isInProgress(ready, summary, before))
    return { type: "Reconciling", status: "False" };
  return { type: "Reconciling", status: "True", reason: ready.reason, message: ready.message };
}

function isInProgress(
  ready: ConditionState,
  { pending = 0, waitApplied = 0, outOfSync = 0, notReady = 0 }: BundleSummary,
  before: HelmOpStatus,
): boolean {
  // An offline cluster may never reconnect: nothing is in progress until then.
  if (ready.status === "True" || ready.reason === "Offline") return false;
  // A deployment that failed is retried.
  if (ready.status === "Unknown" || ready.reason === "Error") return true;
  if (pending + waitApplied + outOfSync > 0) return true;
  // A workload that is not ready belongs to a running rollout; it does not start one when it fails later.
  return notReady > 0 && findCondition(before.conditions, "Reconciling")?.status !== "False";
}
