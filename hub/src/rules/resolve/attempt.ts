/**
 * When a request to the source of an object's charts is made, and what the status keeps of it. Pure. The result of an
 * attempt is a `ResolutionState`, which is a part of the object's status: a new leader continues the same schedule.
 * `nextAttemptTime` is the schedule; before it a request is made only when the spec has changed, a user requests it, or
 * new credentials may resolve a failure.
 */

import type { ChartPin, PinCheck, ResolutionStatus } from "@flotilla/shared/api";
import { RepositoryError } from "@flotilla/shared/source";
import { formatTime, formatTimeMs } from "@flotilla/shared/time";
import { type ChartReference, chartReferences, entryFor } from "../frontend/charts.ts";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import { isCheckDue, pinCheckAfter } from "./pin-check.ts";
import { slotOffset, slotUpTo, wholeSeconds } from "./poll-slots.ts";
import { type Moment, planPoll, pollingIntervalMs, retryMs } from "./polling.ts";
import type { Requests } from "./requests.ts";
import { type ChartResolution, isSameArchives, type Sharing } from "./resolve-charts.ts";

/** What the status of an object keeps of resolving its charts. */
export interface ResolutionState {
  /** The known pins. */
  readonly pins: readonly ChartPin[];
  readonly attempt: ResolutionStatus;
  /** RFC 3339: the start of the last poll. */
  readonly lastPollTime?: string | undefined;
  readonly pinCheck?: PinCheck | undefined;
}

export interface AttemptInputs {
  readonly release: PlannedRelease;
  readonly state: ResolutionState;
  readonly open: Requests;
  /** The resource versions of the Secrets that the source is accessed with. */
  readonly credentialsVersion: string;
  /** Whether an agent cannot fetch a chart as it is pinned. */
  readonly isFetchFailing: boolean;
  readonly moment: Moment;
  /** The present on the monotonic clock, which `Sharing` is in. */
  readonly monotonicMs: number;
  /** When a request was first seen, on the monotonic clock. */
  readonly requestedAtMs: (value: string) => number;
}

export interface AttemptPlan {
  /** Whether a request to the source is made. */
  readonly isDue: boolean;
  /** Also for charts that have a pin. */
  readonly poll: boolean;
  /** The result is pinned, whatever it is: a user requested it. */
  readonly follow: boolean;
  /** The pinned versions are resolved again. */
  readonly checkPins: boolean;
  readonly sharingOf: (reference: ChartReference) => Sharing;
}

/** A retry accepts answers that others got in this last part of its delay. */
const sharedPartOfRetry = 1 / 8;

/** A poll accepts responses from shortly before its slot: two clocks never agree to the millisecond. */
const slotToleranceMs = 500;
const slotTolerancePart = 0.1;

/** The longest delay that a Retry-After of a repository is granted. */
const maxRetryAfterMs = 60 * 60_000;

export function planAttempt(inputs: AttemptInputs): AttemptPlan {
  const { release, state, open, moment } = inputs;
  const { attempt, pins } = state;
  const schedule = scheduleOf(inputs);
  const mayRecover =
    attempt.error !== undefined && inputs.credentialsVersion !== (attempt.credentialsVersion ?? "");
  const isRequested = open.reconcile !== undefined || open.poll !== undefined;
  const isRetryOfRequest =
    attempt.requestFailed === true &&
    release.spec.suspend !== true &&
    (schedule.isDue || schedule.isNew || mayRecover);
  const isPolled = pollingIntervalMs(release) !== undefined;
  const poll = isRequested || isRetryOfRequest || (isPolled && (schedule.isDue || mayRecover));
  const isMissing = chartReferences(release).some(
    (reference) => entryFor(pins, reference) === undefined,
  );
  const isMissingDue =
    isMissing && (schedule.isNew || schedule.isDue || mayRecover || attempt.error === undefined);
  // What has no pin is not deployed: the pins of an earlier spec do not matter.
  const checkPins = inputs.isFetchFailing && !isMissing && isCheckDue(state.pinCheck, moment.nowMs);
  const follow = open.reconcile !== undefined || isRetryOfRequest;
  return {
    isDue: poll || isMissingDue || checkPins,
    poll,
    follow,
    checkPins,
    sharingOf: sharing(inputs, { follow, isSlot: schedule.isSlot }),
  };
}

interface Schedule {
  /** The spec has changed since the last attempt. */
  readonly isNew: boolean;
  readonly isDue: boolean;
  /** It is due as a poll at its slot, not as the first one or as a retry. */
  readonly isSlot: boolean;
}

function scheduleOf({ release, state, moment }: AttemptInputs): Schedule {
  const { attempt, lastPollTime } = state;
  const isNew = attempt.observedGeneration !== (release.metadata.generation ?? 0);
  const poll = planPoll(release, { lastAt: lastPollTime, failures: 0 }, moment);
  const isFirst = poll.kind === "due" && poll.isFirst;
  const nextMs = Date.parse(attempt.nextAttemptTime ?? "");
  // A time beyond any delay was set by a clock that has been corrected since.
  const isWrong = nextMs > moment.nowMs + longestDelayMs(release);
  const isDue = isNew ? poll.kind === "due" : isFirst || nextMs <= moment.nowMs || isWrong;
  return { isNew, isDue, isSlot: isDue && poll.kind === "due" && !isFirst };
}

function longestDelayMs(release: PlannedRelease): number {
  return maxRetryAfterMs + 2 * wholeSeconds(pollingIntervalMs(release) ?? 0);
}

/** Which answers of a source, that others got, are recent enough. */
function sharing(
  { release, state, open, moment, monotonicMs, requestedAtMs }: AttemptInputs,
  { follow, isSlot }: { readonly follow: boolean; readonly isSlot: boolean },
): (reference: ChartReference) => Sharing {
  const requests = [open.reconcile, open.poll].filter((value) => value !== undefined);
  const { failures = 0 } = state.attempt;
  const intervalMs = pollingIntervalMs(release);
  return (reference) => {
    // For two requests at once the answer must be newer than both.
    if (requests.length > 0)
      return { since: Math.max(...requests.map(requestedAtMs)), trigger: requests.join(" ") };
    const isPinned = entryFor(state.pins, reference) !== undefined;
    if (failures > 0 && (follow || !isPinned))
      return { since: monotonicMs - retryMs(failures) * sharedPartOfRetry };
    if (!isSlot || intervalMs === undefined || !isPinned) return {};
    const slot = slotUpTo(slotOffset(reference.repo, moment.hub), intervalMs, moment.nowMs);
    const toleranceMs = Math.min(slotToleranceMs, wholeSeconds(intervalMs) * slotTolerancePart);
    return { since: monotonicMs - (moment.nowMs - slot) - toleranceMs };
  };
}

export interface AttemptResult {
  readonly resolution: ChartResolution;
  /** ms since 1970. */
  readonly startedAtMs: number;
  readonly moment: Moment;
}

/** The state after an attempt. */
export function stateAfter(
  inputs: AttemptInputs,
  plan: AttemptPlan,
  { resolution, startedAtMs, moment }: AttemptResult,
): ResolutionState {
  const { release, credentialsVersion } = inputs;
  const state = withoutAttempt(inputs);
  const { pins, failure } = resolution;
  const isSame = isSameArchives(pins, state.pins);
  const checked = plan.checkPins && isSame;
  const pinCheck = checked
    ? pinCheckAfter(state.pinCheck, startedAtMs, failure?.error)
    : isSame
      ? state.pinCheck
      : undefined;
  // Looking up pins again is not an attempt: a failure of it changes no schedule.
  if (plan.checkPins && !plan.poll) return { ...state, pins, pinCheck };
  const failures = failure === undefined ? 0 : (state.attempt.failures ?? 0) + 1;
  const isPoll = plan.poll && pollingIntervalMs(release) !== undefined;
  const lastPollTime = isPoll ? formatTime(startedAtMs) : state.lastPollTime;
  const isFailedRequest = failure !== undefined && plan.follow;
  const nextMs = nextAttemptMs(
    release,
    { lastPollTime, failures, failure, isRequested: isFailedRequest },
    moment,
  );
  return {
    pins,
    lastPollTime,
    pinCheck,
    attempt: {
      observedGeneration: release.metadata.generation ?? 0,
      ...(nextMs !== undefined && { nextAttemptTime: formatTimeMs(moment.nowMs + nextMs) }),
      ...(failure !== undefined && {
        failures,
        error: failure.error.message,
        code: failure.error.code,
      }),
      ...(isFailedRequest && { requestFailed: true }),
      ...(credentialsVersion !== "" && { credentialsVersion }),
    },
  };
}

/** The state without a request to the source: the schedule of a new generation starts, and old pin checks end. */
export function withoutAttempt({
  release,
  state,
  isFetchFailing,
  moment,
}: Pick<AttemptInputs, "release" | "state" | "isFetchFailing" | "moment">): ResolutionState {
  const generation = release.metadata.generation ?? 0;
  const isNew = state.attempt.observedGeneration !== generation;
  const pinCheck = isNew || !isFetchFailing ? undefined : state.pinCheck;
  const pins = state.pins.filter((pin) => entryFor(chartReferences(release), pin) !== undefined);
  if (!isNew) return { ...state, pins, pinCheck };
  const plan = planPoll(release, { lastAt: state.lastPollTime, failures: 0 }, moment);
  const { error, code, requestFailed, credentialsVersion } = state.attempt;
  // The last poll failed whatever the spec says now; another failure was one of the old spec.
  const isKept = error !== undefined && (requestFailed || pollingIntervalMs(release) !== undefined);
  return {
    ...state,
    pins,
    pinCheck,
    attempt: {
      observedGeneration: generation,
      ...(isKept && { error, ...(code !== undefined && { code }) }),
      ...(requestFailed === true && { requestFailed }),
      ...(credentialsVersion !== undefined && { credentialsVersion }),
      ...(plan.kind === "later" && { nextAttemptTime: formatTimeMs(moment.nowMs + plan.inMs) }),
    },
  };
}

export interface LastAttempt {
  readonly lastPollTime: string | undefined;
  readonly failures: number;
  readonly failure: ChartResolution["failure"];
  readonly isRequested: boolean;
}

/** Milliseconds from now to the next attempt; undefined when none is made before something changes. */
export function nextAttemptMs(
  release: PlannedRelease,
  { lastPollTime, failures, failure, isRequested }: LastAttempt,
  moment: Moment,
): number | undefined {
  const notBeforeMs = retryAfter(failure, moment.nowMs);
  if (failure !== undefined && (isRequested || !failure.isPinned)) {
    if (failure.error.retryable)
      return Math.max(retryMs(failures), (notBeforeMs ?? 0) - moment.nowMs);
    if (!failure.isPinned) return undefined;
  }
  const plan = planPoll(release, { lastAt: lastPollTime, failures, notBeforeMs }, moment);
  switch (plan.kind) {
    case "off":
      return undefined;
    case "due":
      return 0;
    case "later":
      return plan.inMs;
  }
}

/** The repository's Retry-After, ms since 1970. */
export function retryAfter(failure: ChartResolution["failure"], nowMs: number): number | undefined {
  const error = failure?.error;
  return error instanceof RepositoryError && error.retryAfterMs !== undefined
    ? nowMs + Math.min(error.retryAfterMs, maxRetryAfterMs)
    : undefined;
}
