/** Whether a rollout has come to an end that a script waits for. Pure. */
import type { BundleRollout } from "@flotilla/shared/api/rollout";

export type RolloutEnd =
  | { readonly kind: "running" }
  /** A newer one takes its place, and may not be there yet. */
  | { readonly kind: "replaced" }
  | { readonly kind: "completed" }
  | { readonly kind: "failed" };

/**
 * `rollout`: the newest of its app. One that is halted goes on only when somebody asks for it; what was asked for, and the hub has not
 * handled, is waited for.
 */
export function endOf({ spec, status }: BundleRollout): RolloutEnd {
  const isAskedBack = spec.state === "RolledBack";
  switch (status?.phase) {
    case undefined:
    case "Progressing":
    case "Waiting":
    case "RollingBack":
      return { kind: "running" };
    case "Completed":
      return { kind: isAskedBack ? "running" : "completed" };
    case "Halted": {
      const isAskedToEnd = isAskedBack || spec.state === "Cancelled";
      return { kind: isAskedToEnd || isResumed(spec, status) ? "running" : "failed" };
    }
    case "RolledBack":
    case "Cancelled":
      return { kind: "failed" };
    case "Superseded":
      return { kind: status.reason === "NewerRevision" ? "replaced" : "failed" };
  }
}

/** Whether the hub will resume it with its next step. */
function isResumed(
  { state, resume }: BundleRollout["spec"],
  { breach, handledResume }: NonNullable<BundleRollout["status"]>,
): boolean {
  if (state === "Halted") return false;
  return breach === undefined || (resume !== undefined && resume !== handledResume);
}
