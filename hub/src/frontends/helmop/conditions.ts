/** The conditions of a HelmOp except Ready, from its status. Pure. */

import {
  type BundleState,
  type BundleSummary,
  bundleStates,
  type Condition,
  type HelmOp,
  type HelmOpStatus,
} from "@flotilla/shared/api";
import { findCondition, type NewCondition } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import {
  attemptText,
  type ConditionState,
  countIn,
  notesOn,
  pollingIntervalMs,
  releaseOfHelmOp,
  remarksOn,
} from "../../rules/index.ts";
import { resolutionStateOf } from "./decided-status.ts";

export interface ConditionInputs {
  readonly helmOp: HelmOp;
  /** The status that the reconcile decided. */
  readonly status: HelmOpStatus;
  readonly ready: ConditionState;
  readonly summary: BundleSummary;
  /** Stalled=True of its releases. */
  readonly releases?: NewCondition | undefined;
  /** The start of an attempt that takes long whose last one failed, in ms since 1970. */
  readonly retryingSinceMs?: number | undefined;
  /** Remarks on the archives that the clusters report. */
  readonly differing: string | undefined;
}

/** Conditions that exist only while they apply are omitted. */
export function helmOpConditions(inputs: ConditionInputs): readonly NewCondition[] {
  const { helmOp, status, ready, summary } = inputs;
  const isObserved = status.observedGeneration === helmOp.metadata.generation;
  const own = isObserved
    ? stalledCondition(inputs)
    : findCondition(status.conditions, fluxType.stalled);
  // The reason of the HelmOp itself comes first: nothing reaches its releases before it is gone.
  const stalled = own?.status === "True" || !isObserved ? own : (inputs.releases ?? own);
  const polled = isObserved ? polledCondition(inputs) : findCondition(status.conditions, "Polled");
  return [
    ...acceptedCondition(inputs),
    ...(polled === undefined ? [] : [polled]),
    { type: "Ready", ...ready },
    reconcilingCondition(status, ready, summary, stalled?.status === "True"),
    stalled ?? { type: fluxType.stalled, status: "False" },
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
function polledCondition({
  helmOp,
  status,
  retryingSinceMs,
}: ConditionInputs): NewCondition | undefined {
  if (pollingIntervalMs(releaseOfHelmOp(helmOp)) === undefined || !status.lastPollingTriggered)
    return undefined;
  const message = problemOf(status, retryingSinceMs);
  return message === undefined
    ? { type: "Polled", status: "True" }
    : { type: "Polled", status: "False", reason: "Error", message };
}

/** Why the last attempt failed; with the time of the next one where one is scheduled or takes long. */
function problemOf(status: HelmOpStatus, retryingSinceMs: number | undefined): string | undefined {
  const { error } = status.polling ?? {};
  if (error === undefined) return undefined;
  const { attempt, ...state } = resolutionStateOf(status);
  const shown = isRejected(status) ? { error } : attempt;
  return attemptText({ ...state, attempt: shown }, retryingSinceMs);
}

/** Not accepted for another reason than a failed request to its source: no attempt is made. */
function isRejected(status: HelmOpStatus): boolean {
  return status.rejectedCode !== undefined && currentAccepted(status)?.status === "False";
}

function currentAccepted({ conditions, observedGeneration }: HelmOpStatus): Condition | undefined {
  const accepted = findCondition(conditions, "Accepted");
  return accepted?.observedGeneration === observedGeneration ? accepted : undefined;
}

function stalledCondition({ helmOp, status, retryingSinceMs }: ConditionInputs): NewCondition {
  const accepted = currentAccepted(status);
  const message =
    accepted === undefined
      ? undefined
      : accepted.status === "False"
        ? (accepted.message ?? "")
        : helmOp.spec.suspend === true
          ? undefined
          : (problemOf(status, retryingSinceMs) ?? status.pinCheck?.error);
  if (message === undefined) return { type: fluxType.stalled, status: "False" };
  const reason = status.polling?.requestFailed === true ? "RequestFailed" : "Stalled";
  return { type: fluxType.stalled, status: "True", reason, message };
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
    return { type: fluxType.reconciling, status: "False" };
  return {
    type: fluxType.reconciling,
    status: "True",
    reason: ready.reason,
    message: ready.message,
  };
}

/** Whether a state ends by itself. `during a rollout`: a workload that fails later starts none. */
const progress: Readonly<Record<BundleState, boolean | "during a rollout">> = {
  // It is tried again, or waits for a change in its cluster; Stalled says that it is not.
  ErrApplied: true,
  WaitApplied: true,
  OutOfSync: true,
  Pending: true,
  NotReady: "during a rollout",
  Modified: false,
  // It may never reconnect.
  Offline: false,
  Ready: false,
};

function isInProgress(
  { status, reason }: ConditionState,
  summary: BundleSummary,
  before: HelmOpStatus,
): boolean {
  if (status === "True" || reason === "Offline") return false;
  // It is being resolved, or its Bundle is not accepted yet.
  if (status === "Unknown" || reason === "Error") return true;
  const wasInProgress = findCondition(before.conditions, fluxType.reconciling)?.status !== "False";
  return bundleStates.some((state) => {
    const ends = progress[state];
    return (ends === "during a rollout" ? wasInProgress : ends) && countIn(summary, state) > 0;
  });
}
