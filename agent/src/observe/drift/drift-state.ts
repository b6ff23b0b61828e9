/**
 * What is known of the drift of one release, and what it becomes with each comparison and each correction of an object. Pure: every
 * step returns the next state, and the state itself where nothing has changed.
 */
import { type BackoffLimits, backoffDelayMs } from "@flotilla/shared/concurrency";
import { type Correction, correctionsOf, correctionWindowMs } from "./back-off.ts";
import type { DriftEvent, ObjectComparison, ObjectDrift } from "./drift.ts";
import { driftEvent, foreignEvents, withEvent } from "./drift-history.ts";
import type { BackedOff, CorrectionFailure } from "./release-drift.ts";

/** What an upgrade leaves: the new revision is compared from the start. Objects are named by their keys. */
export interface KeptDrift {
  /** Newest first. */
  readonly history: readonly DriftEvent[];
  readonly corrections: readonly Correction[];
  /** What others had added to an object at its last comparison: a text for each manager with its fields. */
  readonly foreign: ReadonlyMap<string, readonly string[]>;
}

/** What was done since a request of a user, in this process. */
export interface ComparedRequest {
  /** All drift was corrected once, as far as it can be. */
  readonly isCorrected: boolean;
  /** Objects that were corrected. */
  readonly corrected: number;
}

export interface DriftRequest extends ComparedRequest {
  readonly token: string;
  /** All objects were compared since the request. */
  readonly isCompared: boolean;
}

export interface DriftState extends KeptDrift {
  /** The last results. */
  readonly comparisons: ReadonlyMap<string, ObjectComparison>;
  readonly failed: ReadonlyMap<string, CorrectionFailure>;
  /** Why objects cannot be compared. */
  readonly uncompared: ReadonlyMap<string, string>;
  /** The last request of a user; absent: there was none for this revision. */
  readonly request?: DriftRequest | undefined;
}

export const nothingKept: KeptDrift = { history: [], corrections: [], foreign: new Map() };

/** The retries of a correction that failed. */
const retries: BackoffLimits = { firstMs: 5_000, longestMs: 10 * 60_000 };

const asDesired: ObjectComparison = { foreign: [] };

/** Before the first comparison. */
export function initialState({ history, corrections, foreign }: KeptDrift): DriftState {
  return {
    history,
    corrections,
    foreign,
    comparisons: new Map(),
    failed: new Map(),
    uncompared: new Map(),
  };
}

/** What a comparison finds that was not known, or not like this; undefined: nothing. */
export function newDrift(
  { comparisons }: DriftState,
  key: string,
  { drift }: ObjectComparison,
): ObjectDrift | undefined {
  const known = comparisons.get(key)?.drift;
  return JSON.stringify(drift) === JSON.stringify(known) ? undefined : drift;
}

/** An object was compared at `nowMs`. */
export function withComparison(
  state: DriftState,
  key: string,
  { comparison, nowMs }: { readonly comparison: ObjectComparison; readonly nowMs: number },
): DriftState {
  const before = state.comparisons.get(key) ?? asDesired;
  const uncompared = without(state.uncompared, key);
  if (JSON.stringify(before) === JSON.stringify(comparison))
    return uncompared === state.uncompared ? state : { ...state, uncompared };
  const found = newDrift(state, key, comparison);
  const history =
    found === undefined
      ? state.history
      : withEvent(state.history, driftEvent(found, nowMs, "Detected"));
  return {
    ...state,
    ...withForeign({ ...state, history }, key, foreignEvents(comparison.foreign, nowMs)),
    uncompared,
    comparisons: withEntry(state.comparisons, key, comparison),
    failed: comparison.drift === undefined ? without(state.failed, key) : state.failed,
  };
}

/** An object could not be compared; what was known of it stays. */
export function withUncompared(state: DriftState, key: string, why: string): DriftState {
  if (state.uncompared.get(key) === why) return state;
  return { ...state, uncompared: withEntry(state.uncompared, key, why) };
}

/** What is not corrected any more for a while is in the history. */
export function withBackedOff(
  state: DriftState,
  backedOff: readonly BackedOff[],
  nowMs: number,
): DriftState {
  if (backedOff.length === 0) return state;
  const events = backedOff.map(({ drift }) => driftEvent(drift, nowMs, "BackedOff"));
  return { ...state, history: events.reduce(withNext, state.history) };
}

export interface Corrected {
  /** What was corrected; undefined: the object was as desired by then. */
  readonly drift: ObjectDrift | undefined;
  /** A user has asked for it: the back-off is for corrections that nobody asks for. */
  readonly isRequested: boolean;
  /** When the correction began, ms since 1970. */
  readonly atMs: number;
}

/** An object is as desired again, but for fields that are not corrected: its next comparison finds them. */
export function withCorrection(
  state: DriftState,
  key: string,
  { drift, isRequested, atMs }: Corrected,
): DriftState {
  const { foreign } = state.comparisons.get(key) ?? asDesired;
  const next: DriftState = {
    ...state,
    failed: without(state.failed, key),
    comparisons: withEntry(state.comparisons, key, { foreign }),
  };
  if (drift === undefined) return next;
  const { request } = state;
  return {
    ...next,
    request: request && { ...request, corrected: request.corrected + 1 },
    corrections: [
      ...state.corrections.filter((each) => each.atMs > atMs - correctionWindowMs),
      ...(isRequested ? [] : correctionsOf(drift, atMs)),
    ],
    history: withEvent(state.history, driftEvent(drift, atMs, "Corrected")),
  };
}

export interface FailedCorrection {
  readonly drift: ObjectDrift;
  /** Why, for people. */
  readonly message: string;
  /** When the correction began and when it failed, ms since 1970. */
  readonly atMs: number;
  readonly failedAtMs: number;
}

/** A correction of an object failed; it is retried later each time. */
export function withFailure(
  state: DriftState,
  key: string,
  { drift, message, atMs, failedAtMs }: FailedCorrection,
): DriftState {
  const count = (state.failed.get(key)?.count ?? 0) + 1;
  const retryAtMs = failedAtMs + backoffDelayMs(retries, count);
  return {
    ...state,
    failed: withEntry(state.failed, key, { count, message, retryAtMs }),
    history: withEvent(state.history, driftEvent(drift, atMs, "CorrectionFailed")),
  };
}

/** A user has requested a comparison of all objects; a request with the token of the last one is that one. */
export function withRequest(state: DriftState, token: string): DriftState {
  if (state.request?.token === token) return state;
  return { ...state, request: { token, isCompared: false, isCorrected: false, corrected: 0 } };
}

/** What was done for the request with this token, if that is still the last one. */
export function withProgress(
  state: DriftState,
  token: string,
  done: Partial<Pick<DriftRequest, "isCompared" | "isCorrected">>,
): DriftState {
  const { request } = state;
  return request?.token === token ? { ...state, request: { ...request, ...done } } : state;
}

/** Adds what others have added since; a controller that sets a field again and again has added it once. */
function withForeign(
  { history, foreign }: KeptDrift,
  key: string,
  events: readonly DriftEvent[],
): Pick<KeptDrift, "history" | "foreign"> {
  const known = foreign.get(key) ?? [];
  const ids = events.map(({ manager, fields }) => JSON.stringify([manager, fields]));
  const added = events.filter((_, index) => !known.includes(ids[index] ?? ""));
  return {
    history: added.reduce(withNext, history),
    foreign: ids.length === 0 ? without(foreign, key) : withEntry(foreign, key, ids),
  };
}

function withNext(history: readonly DriftEvent[], event: DriftEvent): readonly DriftEvent[] {
  return withEvent(history, event);
}

function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value);
}

/** The map itself if it has no such key. */
function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
