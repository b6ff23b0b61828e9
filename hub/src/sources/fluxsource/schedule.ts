/** When a source of Flux is read. Pure: the schedule is in its status, so that a new leader continues it. */
import type { ResolutionStatus } from "@flotilla/shared/api";
import { requestOf, requestTokens } from "@flotilla/shared/api/names";
import { backoffDelayMs } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { formatTimeMs, parseGoDuration } from "@flotilla/shared/time";
import { slotAfter, slotOffset } from "../../rules/index.ts";
import type { SourceError } from "./source-error.ts";
import type { SourceObject } from "./source-status.ts";

/** Flux's defaults of its flags. */
const retryBackoff = { firstMs: 750, longestMs: 15 * 60_000 };

/** Where `spec.interval` is not set, which only a HelmRepository may. */
const defaultIntervalMs = 60_000;

export interface SourceSchedule {
  readonly isDue: boolean;
  /** The request by annotation that reading it now handles. */
  readonly request?: string;
}

/**
 * Whether a source is to be read now. `inputs`: identifies what it is read with, such as the versions of its Secrets and the
 * revision of what it is made from: another value makes it due.
 */
export function scheduleOf(
  { metadata, spec, status }: SourceObject,
  { nowMs, inputs }: { readonly nowMs: number; readonly inputs: string },
): SourceSchedule {
  const request = openRequest({ metadata, status });
  if (spec?.suspend === true) return { isDue: false, ...(request !== undefined && { request }) };
  const { observedGeneration, nextAttemptTime, credentialsVersion = "" } = status?.polling ?? {};
  const next =
    nextAttemptTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(nextAttemptTime);
  const isDue =
    request !== undefined ||
    observedGeneration !== (metadata.generation ?? 0) ||
    credentialsVersion !== inputs ||
    next <= nowMs;
  return { isDue, ...(request !== undefined && { request }) };
}

/** The value of a request that was not handled yet. */
function openRequest({ metadata, status }: Pick<SourceObject, "metadata" | "status">) {
  const token = requestOf(requestTokens(metadata))?.token;
  return token === status?.lastHandledReconcileAt ? undefined : token;
}

export interface Attempt {
  readonly nowMs: number;
  readonly inputs: string;
  /** Undefined: it succeeded. */
  readonly error?: SourceError | undefined;
  /** `spec.interval`; undefined: it is read only when something changes. */
  readonly interval: string | undefined;
  /** The address of the source: those with the same are read at the same time. */
  readonly address: string;
  readonly hubId: string;
}

/** With the time of the last attempt, RFC 3339. */
export type SourcePolling = ResolutionStatus & { readonly lastAttemptTime: string };

/** The schedule after an attempt. */
export function scheduleAfter(
  { metadata, status }: SourceObject,
  { nowMs, inputs, error, interval, address, hubId }: Attempt,
): SourcePolling {
  const failures = error === undefined ? 0 : (status?.polling?.failures ?? 0) + 1;
  const common = {
    observedGeneration: metadata.generation ?? 0,
    lastAttemptTime: formatTimeMs(nowMs),
    ...(inputs !== "" && { credentialsVersion: inputs }),
    ...(failures > 0 && { failures }),
  };
  if (error !== undefined) {
    const failure = { error: error.message, ...codeOf(error) };
    if (error.stalls) return { ...common, ...failure };
    const inMs = Math.max(retryDelayMs(failures), error.retryAfterMs ?? 0);
    return { ...common, ...failure, nextAttemptTime: formatTimeMs(nowMs + inMs) };
  }
  if (interval === undefined) return common;
  const intervalMs = parseGoDuration(interval) ?? defaultIntervalMs;
  const next = slotAfter(slotOffset(address, hubId), intervalMs, nowMs);
  return { ...common, nextAttemptTime: formatTimeMs(next) };
}

/** The code of the client's error; the hub's own reasons have none. */
function codeOf({ cause }: SourceError): Pick<ResolutionStatus, "code"> {
  return cause instanceof AppError ? { code: cause.code } : {};
}

/** The delay after this many failures in a row. */
export function retryDelayMs(failures: number): number {
  return backoffDelayMs(retryBackoff, failures);
}
