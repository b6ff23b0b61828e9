/** The conditions of a release, with Flux's types and reasons. Pure. */

import type { ReleaseCondition } from "@flotilla/proto";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
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
      readonly reason?: typeof fluxReason.dependencyNotReady;
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
  if (failed !== undefined && failed.reason !== fluxReason.testFailed)
    return condition(fluxType.released, "False", failed.reason, failed.message);
  if (progress.kind === "progressing" && revision !== undefined && !isRollback(revision))
    return condition(fluxType.released, "Unknown", fluxReason.progressing, progress.message);
  if (revision === undefined) return undefined;
  const isInstall = revision.action === "install";
  const reason = isInstall ? fluxReason.installSucceeded : fluxReason.upgradeSucceeded;
  const chart = revision.chartName === undefined ? "" : ` with chart ${chartText(revision)}`;
  const message = `Helm ${isInstall ? "install" : "upgrade"} succeeded for release ${release}.v${revision.revision}${chart}`;
  const text = [message, ...applyRemarks(revision.notes)].join("; ");
  return condition(fluxType.released, "True", reason, text);
}

function tested({ release, revision, failed }: ReleaseFacts) {
  if (failed?.reason === fluxReason.testFailed)
    return condition(fluxType.testSuccess, "False", fluxReason.testFailed, failed.message);
  const tests = revision?.tests;
  if (tests === undefined || revision === undefined) return undefined;
  const failing = tests.filter(({ phase }) => phase !== "Succeeded").map(({ name }) => name);
  if (failing.length > 0)
    return condition(
      fluxType.testSuccess,
      "False",
      fluxReason.testFailed,
      `tests failed: ${failing.join(", ")}`,
    );
  const count = tests.length === 1 ? "1 test" : `${tests.length} tests`;
  const message = `${count} succeeded for release ${release}.v${revision.revision}`;
  return condition(fluxType.testSuccess, "True", fluxReason.testSucceeded, message);
}

const remediationReasons = {
  rollback: { succeeded: fluxReason.rollbackSucceeded, failed: fluxReason.rollbackFailed },
  uninstall: { succeeded: fluxReason.uninstallSucceeded, failed: fluxReason.uninstallFailed },
} as const;

function remediated({ failed }: ReleaseFacts) {
  if (failed?.remediation === undefined) return undefined;
  const { by, error } = failed.remediation;
  const reasons = remediationReasons[by];
  return error === undefined
    ? condition(fluxType.remediated, "True", reasons.succeeded, `${by} after: ${failed.message}`)
    : condition(fluxType.remediated, "False", reasons.failed, error);
}

function drifted({ drift }: ReleaseFacts) {
  return drift && condition(fluxType.drifted, drift.status, drift.reason, drift.message);
}

function inProgress({ progress }: ReleaseFacts): readonly ReleaseCondition[] {
  switch (progress.kind) {
    case "done":
      return [];
    case "acting":
      return [condition(fluxType.reconciling, "True", fluxReason.progressing, progress.message)];
    case "progressing":
      return [
        condition(
          fluxType.reconciling,
          "True",
          progress.reason ?? fluxReason.progressing,
          progress.message,
        ),
      ];
    case "failed": {
      const { code, message, retryAt } = progress;
      const stalled = stalledReasons[code];
      return stalled === undefined && retryAt !== undefined
        ? [condition(fluxType.reconciling, "True", fluxReason.progressingWithRetry, message)]
        : [condition(fluxType.stalled, "True", stalled ?? "Stalled", message)];
    }
  }
}

/** By code. Others are stalled while they are not retried. */
const stalledReasons: Readonly<Record<string, string>> = {
  [agentErrors.RETRIES_EXCEEDED.code]: fluxReason.retriesExceeded,
  [agentErrors.ROLLBACK_TARGET_MISSING.code]: fluxReason.missingRollbackTarget,
  [agentErrors.RELEASE_LOCKED.code]: fluxReason.pendingRelease,
  [agentErrors.INVALID_CEL_EXPRESSION.code]: fluxReason.invalidCELExpression,
  [agentErrors.SERVICE_ACCOUNT_REQUIRED.code]: fluxReason.accessDenied,
  [agentErrors.VALUES_TEMPLATE_FAILED.code]: fluxReason.valuesError,
  [agentErrors.REFERENCED_OBJECT_NOT_FOUND.code]: fluxReason.valuesError,
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
