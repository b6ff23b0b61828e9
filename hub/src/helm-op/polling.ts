/**
 * When a HelmOp's repository is asked again. Pure.
 *
 * The time of the last attempt is in the HelmOp's status, so a restart of the hub polls nobody before their time.
 */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { parseGoDuration } from "@flotilla/shared/duration/go-duration.ts";
import { isStaticVersion } from "@flotilla/shared/version/select.ts";
import { type WantedChart, wantedCharts } from "./plan-bundle.ts";

export type PollPlan =
  /** Nothing to poll: no interval, suspended, or nothing that could change. */
  | { readonly kind: "off" }
  | { readonly kind: "due" }
  | { readonly kind: "later"; readonly inMs: number };

/** The status keeps times in whole seconds, so a shorter interval would always seem to be over. */
const shortestIntervalMs = 1_000;

/** Polls of HelmOps with the same interval are spread over this part of it, so that they do not come as a herd. */
const jitterPart = 0.1;

/** Failures double the interval up to this many times, and never beyond `longestBackoffMs` where the interval is shorter. */
const maxDoublings = 6;
const longestBackoffMs = 15 * 60_000;

export interface PollHistory {
  /** RFC 3339: the start of the last attempt; absent when there was none. */
  readonly lastAt: string | undefined;
  /** Attempts that failed since the last that did not. */
  readonly failures: number;
}

export function planPoll(
  helmOp: HelmOp,
  { lastAt, failures }: PollHistory,
  nowMs: number,
): PollPlan {
  const intervalMs = pollingIntervalMs(helmOp);
  if (intervalMs === undefined) return { kind: "off" };
  const last = Date.parse(lastAt ?? "");
  if (Number.isNaN(last)) return { kind: "due" };
  const inMs = last + delayMs(helmOp, intervalMs, failures) - nowMs;
  return inMs <= 0 ? { kind: "due" } : { kind: "later", inMs };
}

/** Milliseconds from one attempt to the next. The jitter is the HelmOp's own and always the same. */
function delayMs(helmOp: HelmOp, intervalMs: number, failures: number): number {
  const jitter = jitterPart * (fraction(helmOp.metadata.uid ?? helmOp.metadata.name) - 0.5);
  const spread = Math.max(shortestIntervalMs, intervalMs * (1 + jitter));
  if (failures === 0) return spread;
  const backedOff = spread * 2 ** Math.min(failures - 1, maxDoublings);
  return Math.min(backedOff, Math.max(spread, longestBackoffMs));
}

/** Undefined when the HelmOp is not to be polled. */
export function pollingIntervalMs(helmOp: HelmOp): number | undefined {
  const { spec } = helmOp;
  if (spec.suspend === true || spec.helm === undefined || spec.helm === null) return undefined;
  const intervalMs = parseGoDuration(spec.pollingInterval ?? "0");
  if (intervalMs === undefined || intervalMs <= 0) return undefined;
  return wantedCharts(helmOp).some(mayChange) ? intervalMs : undefined;
}

/** Whether asking for it once more may bring another version. */
function mayChange({ chart, version }: WantedChart): boolean {
  return !/\.tgz$/i.test(chart.trim()) && !isStaticVersion(version);
}

/** A number from 0 to 1 that is the same for the same text (FNV-1a). */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
