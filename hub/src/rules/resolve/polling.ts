/**
 * When the repository of a release is polled again. Pure. The time of the last attempt is in the status of its object, so a
 * restart of the hub starts no poll before its time.
 */
import { backoffDelayMs } from "@flotilla/shared/concurrency";
import { parseGoDuration } from "@flotilla/shared/time";
import { isStaticVersion } from "@flotilla/shared/version";
import { type ChartReference, chartReferences } from "../frontend/charts.ts";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import { slotAfter, slotOffset, wholeSeconds } from "./poll-slots.ts";

export type PollPlan =
  /** Nothing to poll: no interval, suspended, or nothing that could change. */
  | { readonly kind: "off" }
  /** The first attempt, or one that is over time. */
  | { readonly kind: "due"; readonly isFirst: boolean }
  | { readonly kind: "later"; readonly inMs: number };

/** Failures double the interval up to this many times, and never beyond `longestBackoffMs` where the interval is shorter. */
const maxDoublings = 6;
const longestBackoffMs = 15 * 60_000;

export interface PollHistory {
  /** RFC 3339: the start of the last attempt; absent when there was none. */
  readonly lastAt: string | undefined;
  /** Attempts that failed since the last that did not. */
  readonly failures: number;
  /** The repository's Retry-After, ms since 1970. */
  readonly notBeforeMs?: number | undefined;
}

/** The current time, and the hub. */
export interface Moment {
  readonly nowMs: number;
  /** Names the hub. */
  readonly hub: string;
}

export function planPoll(
  release: PlannedRelease,
  { lastAt, failures, notBeforeMs = 0 }: PollHistory,
  { nowMs, hub }: Moment,
): PollPlan {
  const intervalMs = pollingIntervalMs(release);
  if (intervalMs === undefined) return { kind: "off" };
  const last = Date.parse(lastAt ?? "");
  // A time that lies ahead is of a clock that was corrected since.
  if (Number.isNaN(last) || last > nowMs + wholeSeconds(intervalMs))
    return { kind: "due", isFirst: true };
  const skipped = skippedMs(wholeSeconds(intervalMs), failures);
  const from = Math.max(last + skipped, notBeforeMs);
  const inMs = slotAfter(slotOffset(polledRepo(release), hub), intervalMs, from) - nowMs;
  return inMs <= 0 ? { kind: "due", isFirst: false } : { kind: "later", inMs };
}

/**
 * The part of the interval after a failed attempt without another one, so that the next one comes after twice the
 * interval.
 */
function skippedMs(everyMs: number, failures: number): number {
  if (failures <= 1) return 0;
  const doubled = everyMs * (2 ** Math.min(failures - 1, maxDoublings) - 1);
  return Math.max(0, Math.min(doubled, longestBackoffMs - everyMs));
}

/** A release is polled when the first of its repositories may bring something new. */
function polledRepo(release: PlannedRelease): string {
  return chartReferences(release).find(mayChange)?.repo ?? "";
}

/** Undefined when the release is not to be polled. */
export function pollingIntervalMs(release: PlannedRelease): number | undefined {
  const { spec, source } = release;
  if (spec.suspend === true || spec.helm === undefined || spec.helm === null) return undefined;
  const intervalMs = parseGoDuration(source.pollingInterval ?? "0");
  if (intervalMs === undefined || intervalMs <= 0) return undefined;
  return chartReferences(release).some(mayChange) ? intervalMs : undefined;
}

/** Whether asking for it once more may bring another version. */
export function mayChange({ chart, version }: ChartReference): boolean {
  return !/\.tgz$/i.test(chart.trim()) && !isStaticVersion(version);
}

/** Retries start after one second and double up to five minutes. */
const retryBackoff = { firstMs: 1_000, longestMs: 5 * 60_000 };

/** The delay before the next attempt after this many failures in a row. */
export function retryMs(failures: number): number {
  return backoffDelayMs(retryBackoff, failures);
}
