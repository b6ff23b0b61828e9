/**
 * Which change of a condition is written at once. A new result is; progress may wait for the result, which mostly
 * follows within a second and then saves the write. Pure.
 */
import type { Condition } from "@flotilla/shared/api";

/** Reasons of conditions that are in progress. */
const progressReasons: ReadonlySet<string> = new Set([
  "Progressing",
  "Pending",
  "WaitApplied",
  "OutOfSync",
]);

export function isUrgentChange(
  before: Condition | undefined,
  after: Condition | undefined,
): boolean {
  if (after === undefined) return false;
  if (after.status === "True") return before?.status !== "True";
  if (after.status === "Unknown" || progressReasons.has(after.reason ?? "")) return false;
  // Not ready is a result only after ready; before that it is progress.
  if (after.reason === "NotReady") return before?.status === "True";
  return before?.status !== "False" || before.reason !== after.reason;
}
