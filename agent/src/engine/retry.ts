/** When a deployment that failed is tried again. Pure. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";

/** A failure is tried again after this long, doubling up to `longestRetryMs`. */
const firstRetryMs = 5_000;
const longestRetryMs = 5 * 60_000;

/** `count`: how often it has failed in a row. */
export function retryDelayMs(count: number): number {
  return Math.min(longestRetryMs, firstRetryMs * 2 ** (count - 1));
}

/** What failed, and when it is tried again. */
export function retriedMessage(thrown: unknown, retryAtMs: number): string {
  return `${AppError.from(thrown).message}; it is tried again at ${timeText(retryAtMs)}`;
}

/** RFC 3339 in whole seconds. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
