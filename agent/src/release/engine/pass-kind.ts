/** Decides what a reconcile of a release may do. Pure. */
import type { Assignment } from "../../state/index.ts";

export type PassKind =
  /** Installs, upgrades, tests, corrects: what the release machine decides. */
  | "deploy"
  /** Reports only. */
  | "observe"
  | "uninstall"
  /** Forgets the release, which stays. */
  | "leave";

/** What is paused or suspended is only observed; deleting it uninstalls what was paused, and leaves what was suspended. */
export function passKind({
  withdrawing,
  keepsRelease,
  paused,
}: Pick<Assignment, "withdrawing" | "keepsRelease" | "paused">): PassKind {
  if (withdrawing) return keepsRelease ? "leave" : "uninstall";
  return paused ? "observe" : "deploy";
}
