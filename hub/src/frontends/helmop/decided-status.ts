/** The part of a HelmOp's status that its reconcile decides. Pure. */
import type { ChartPin, HelmOp, HelmOpStatus } from "@flotilla/shared/api";
import { findCondition, setCondition } from "@flotilla/shared/conditions";
import type { AppError } from "@flotilla/shared/errors";
import { mayHoldSecret, pinAddress } from "@flotilla/shared/source";
import {
  attemptText,
  chartNotResolved,
  chartReferenceOf,
  entryFor,
  isAllPinned,
  notAccepted,
  type Requests,
  type ResolutionState,
  releaseOfHelmOp,
} from "../../rules/index.ts";

/** The state of resolving a HelmOp's charts, from its status. */
export function resolutionStateOf(status: HelmOpStatus | undefined): ResolutionState {
  const { pins = [], polling = {}, lastPollingTriggered, pinCheck } = status ?? {};
  return {
    pins,
    attempt: polling,
    lastPollTime: lastPollingTriggered ?? undefined,
    pinCheck,
  };
}

/** Its charts are being resolved; this generation has no result yet. */
export function resolvingStatus(helmOp: HelmOp, status: HelmOpStatus | undefined): HelmOpStatus {
  return { ...status, observedGeneration: generationOf(helmOp) };
}

export interface RejectedFields {
  readonly error: AppError;
  readonly remarks: readonly string[];
  /** Requests that are open: they are handled as soon as the HelmOp is accepted. */
  readonly open: Requests;
  /** RFC 3339. */
  readonly now: string;
}

/** Not accepted; its source gets no request. The schedule stays. */
export function rejectedStatus(
  helmOp: HelmOp,
  status: HelmOpStatus | undefined,
  { error, remarks, open, now }: RejectedFields,
): HelmOpStatus {
  const observedGeneration = generationOf(helmOp);
  // A push that is not handled yet is polled once the HelmOp is accepted.
  const { poll: _, ...requested } = open;
  return {
    ...status,
    observedGeneration,
    rejectedCode: error.code,
    ...handledFields(requested),
    ...(requested.reconcile !== undefined && {
      polling: { ...status?.polling, requestFailed: true },
    }),
    conditions: setCondition(
      status?.conditions,
      { ...notAccepted(error, remarks), observedGeneration },
      now,
    ),
  };
}

/** While an attempt takes long whose last one failed: where that is why the HelmOp is not accepted, the message names its start. */
export function retryingStatus(
  helmOp: HelmOp,
  status: HelmOpStatus,
  { startedAtMs, remarks, now }: Retrying,
): HelmOpStatus {
  const accepted = findCondition(status.conditions, "Accepted");
  const observedGeneration = generationOf(helmOp);
  const isOfAttempt =
    accepted?.status === "False" &&
    accepted.observedGeneration === observedGeneration &&
    status.rejectedCode === undefined;
  if (!isOfAttempt) return status;
  const text = attemptText(resolutionStateOf(status), startedAtMs);
  const message = [text, ...remarks].join("; ");
  return { ...status, conditions: setCondition(status.conditions, { ...accepted, message }, now) };
}

export interface Retrying {
  /** The start of the attempt, in ms since 1970. */
  readonly startedAtMs: number;
  readonly remarks: readonly string[];
  /** RFC 3339. */
  readonly now: string;
}

export interface ResolvedFields {
  readonly state: ResolutionState;
  readonly remarks: readonly string[];
  /** Requests that this attempt handled. */
  readonly open: Requests;
  /** RFC 3339. */
  readonly now: string;
}

/** Its source answered, or the next poll is not due. */
export function resolvedStatus(
  helmOp: HelmOp,
  status: HelmOpStatus | undefined,
  { state, remarks, open, now }: ResolvedFields,
): HelmOpStatus {
  const { pins, attempt, lastPollTime, pinCheck } = state;
  const { pins: _, pinCheck: __, rejectedCode: ___, ...kept } = status ?? {};
  const observedGeneration = generationOf(helmOp);
  const own = entryFor(pins, chartReferenceOf(helmOp.spec.helm ?? {}))?.pin;
  const isPinned = isAllPinned(releaseOfHelmOp(helmOp), state);
  const shownPins = pins.filter((pin) => !hasSecretAddress(pin));
  // The message of True is rolled up with what clusters report (status.ts).
  const accepted = isPinned
    ? ({ status: "True", reason: "", message: "" } as const)
    : ({
        status: "False",
        reason: chartNotResolved,
        message: [attemptText(state), ...remarks].join("; "),
      } as const);
  const before = kept.conditions?.find(({ type }) => type === "Accepted");
  const isSame =
    isPinned && before?.status === "True" && before.observedGeneration === observedGeneration;
  return {
    ...kept,
    observedGeneration,
    polling: attempt,
    ...(lastPollTime !== undefined && { lastPollingTriggered: lastPollTime }),
    ...(shownPins.length > 0 && { pins: shownPins }),
    ...(pinCheck !== undefined && { pinCheck }),
    ...(own !== undefined && own.kind !== "tarball" && { version: own.version }),
    ...handledFields(open),
    conditions: isSame
      ? (kept.conditions ?? [])
      : setCondition(kept.conditions, { type: "Accepted", ...accepted, observedGeneration }, now),
  };
}

/** A pin with such an address is stored only in the Bundle, and resolved again when that is deleted. */
function hasSecretAddress({ repo, chart, pin }: ChartPin): boolean {
  return [repo, chart, pinAddress(pin)].some(mayHoldSecret);
}

function handledFields({ reconcile, poll }: Requests) {
  return {
    ...(reconcile !== undefined && { lastHandledReconcileAt: reconcile }),
    ...(poll !== undefined && { lastHandledPollRequest: poll }),
  };
}

function generationOf({ metadata }: HelmOp): number {
  return metadata.generation ?? 0;
}
