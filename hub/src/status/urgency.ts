/**
 * What of a status cannot wait. A verdict is written at once; that something is on its way may wait for the verdict,
 * which most often comes within a second and then saves the write.
 */
import type { Condition } from "@flotilla/shared/api/condition.ts";

/** Reasons of conditions that say: wanted, not there yet. */
const waitingReasons: ReadonlySet<string> = new Set([
  "Progressing",
  "Pending",
  "WaitApplied",
  "OutOfSync",
]);

/** Whether what a condition says now is a verdict that it did not give before. */
export function isNews(before: Condition | undefined, after: Condition | undefined): boolean {
  if (after === undefined) return false;
  if (after.status === "True") return before?.status !== "True";
  if (after.status === "Unknown" || waitingReasons.has(after.reason ?? "")) return false;
  // Not ready is news of what was ready; before that it is only the way there.
  if (after.reason === "NotReady") return before?.status === "True";
  return before?.status !== "False" || before.reason !== after.reason;
}
