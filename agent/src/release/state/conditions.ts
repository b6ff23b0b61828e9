/** The conditions of a release, with Flux's types and reasons. Pure. */

import type { ReleaseCondition } from "@flotilla/proto";
import { cutText } from "@flotilla/shared/text";
import { agentErrors } from "../../base/errors/index.ts";
import type { DriftText } from "../../observe/index.ts";
import type { FailedAttempts, InventoryRevision } from "../../state/index.ts";
import { applyRemarks } from "./apply-remarks.ts";

export interface ReleaseFacts {
  /** `namespace/name`. */
  readonly release: string;
  /** What runs; undefined: nothing that the agent has installed. */
  readonly revision: InventoryRevision | undefined;
  /** The attempts at the desired content that have failed. */
  readonly failed: FailedAttempts | undefined;
  readonly progress: ReleaseProgress;
  /** The drift of what runs; undefined: nobody has asked for it, and there is none. */
  readonly drift?: DriftText | undefined;
}

export type ReleaseProgress =
  | { readonly kind: "done" }
  /** An action or a wait is in progress, or what it depends on is missing. `reason`: Flux's, default Progressing. */
  | {
      readonly kind: "progressing";
      readonly message: string;
      readonly reason?: "DependencyNotReady";
    }
  /** An action runs: what the last one did still holds. */
  | { readonly kind: "acting"; readonly message: string }
  /** A failure; `retryAt` absent: nothing is retried before a change. */
  | {
      readonly kind: "failed";
      readonly code: string;
      readonly message: string;
      readonly retryAt?: string | undefined;
    };

/** Those that do not apply are absent. */
export function releaseConditions(facts: ReleaseFacts): readonly ReleaseCondition[] {
  return [
    ...[released(facts), tested(facts), remediated(facts), drifted(facts)],
    ...inProgress(facts),
  ].flatMap((condition) => condition ?? []);
}

function released({ release, revision, failed, progress }: ReleaseFacts) {
  if (failed !== undefined && failed.reason !== "TestFailed")
    return condition("Released", "False", failed.reason, failed.message);
  if (progress.kind === "progressing" && revision !== undefined && !isRollback(revision))
    return condition("Released", "Unknown", "Progressing", progress.message);
  if (revision === undefined) return undefined;
  const action = revision.action === "install" ? "Install" : "Upgrade";
  const chart = revision.chartName === undefined ? "" : ` with chart ${chartText(revision)}`;
  const message = `Helm ${action.toLowerCase()} succeeded for release ${release}.v${revision.revision}${chart}`;
  const text = [message, ...applyRemarks(revision.notes)].join("; ");
  return condition("Released", "True", `${action}Succeeded`, text);
}

function tested({ release, revision, failed }: ReleaseFacts) {
  if (failed?.reason === "TestFailed")
    return condition("TestSuccess", "False", "TestFailed", failed.message);
  const tests = revision?.tests;
  if (tests === undefined || revision === undefined) return undefined;
  const failing = tests.filter(({ phase }) => phase !== "Succeeded").map(({ name }) => name);
  if (failing.length > 0)
    return condition("TestSuccess", "False", "TestFailed", `tests failed: ${failing.join(", ")}`);
  const count = tests.length === 1 ? "1 test" : `${tests.length} tests`;
  const message = `${count} succeeded for release ${release}.v${revision.revision}`;
  return condition("TestSuccess", "True", "TestSucceeded", message);
}

function remediated({ failed }: ReleaseFacts) {
  if (failed?.remediation === undefined) return undefined;
  const { by, error } = failed.remediation;
  const action = by === "rollback" ? "Rollback" : "Uninstall";
  return error === undefined
    ? condition("Remediated", "True", `${action}Succeeded`, `${by} after: ${failed.message}`)
    : condition("Remediated", "False", `${action}Failed`, error);
}

function drifted({ drift }: ReleaseFacts) {
  return drift && condition("Drifted", drift.status, drift.reason, drift.message);
}

function inProgress({ progress }: ReleaseFacts): readonly ReleaseCondition[] {
  switch (progress.kind) {
    case "done":
      return [];
    case "acting":
      return [condition("Reconciling", "True", "Progressing", progress.message)];
    case "progressing":
      return [condition("Reconciling", "True", progress.reason ?? "Progressing", progress.message)];
    case "failed": {
      const { code, message, retryAt } = progress;
      const stalled = stalledReasons[code];
      return stalled === undefined && retryAt !== undefined
        ? [condition("Reconciling", "True", "ProgressingWithRetry", message)]
        : [condition("Stalled", "True", stalled ?? "Stalled", message)];
    }
  }
}

/** By code. Others are stalled while they are not retried. */
const stalledReasons: Readonly<Record<string, string>> = {
  [agentErrors.RETRIES_EXCEEDED.code]: "RetriesExceeded",
  [agentErrors.ROLLBACK_TARGET_MISSING.code]: "MissingRollbackTarget",
  [agentErrors.RELEASE_LOCKED.code]: "PendingRelease",
  [agentErrors.INVALID_CEL_EXPRESSION.code]: "InvalidCELExpression",
  [agentErrors.SERVICE_ACCOUNT_REQUIRED.code]: "AccessDenied",
  [agentErrors.VALUES_TEMPLATE_FAILED.code]: "ValuesError",
  [agentErrors.REFERENCED_OBJECT_NOT_FOUND.code]: "ValuesError",
};

function isRollback({ action }: InventoryRevision): boolean {
  return action === "rollback";
}

function chartText({ chartName = "", chartVersion = "" }: InventoryRevision): string {
  return `${chartName}@${chartVersion}`;
}

/** The limit of a message on the hub, where ten thousand clusters may have one each. */
const maxMessage = 512;

function condition(
  type: ReleaseCondition["type"],
  status: ReleaseCondition["status"],
  reason: string,
  message: string,
): ReleaseCondition {
  return { type, status, reason, message: cutText(message, maxMessage) };
}
