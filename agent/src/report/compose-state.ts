/** What is reported of a deployment, from what became of it and how its objects are. Pure. */
import type { DeploymentState, ReleaseInfo } from "@flotilla/proto/messages.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Readiness } from "../readiness/readiness.ts";

/** What became of an assignment so far. */
export type Outcome =
  /** Nothing yet; `message` says what it waits for. */
  | { readonly kind: "pending"; readonly message: string }
  | {
      readonly kind: "deployed";
      readonly deploymentId: string;
      readonly release: ReleaseInfo;
      readonly chartDigest?: string;
      /** Worth knowing although it went well. */
      readonly message?: string;
    }
  | {
      readonly kind: "failed";
      readonly deploymentId: string;
      readonly message: string;
      /** From the catalogue of errors. */
      readonly code: string;
      readonly retryAt?: string;
    }
  /** Being uninstalled; `message` says what holds it up. */
  | { readonly kind: "withdrawing"; readonly message: string; readonly code?: string };

/** Nobody has looked at the objects yet. */
const unseen: Readiness = {
  ready: false,
  notReady: [],
  resources: [],
  incomplete: false,
  counts: { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 },
};

/** What is installed goes on being told of while something newer waits or fails. */
export function composeState(
  held: HeldAssignment,
  outcome: Outcome,
  readiness: Readiness = unseen,
): DeploymentState {
  const base = { ...held.owner, ...readiness, ready: false, message: "" };
  switch (outcome.kind) {
    case "pending":
      return {
        ...base,
        deploymentId: held.deploymentId,
        phase: "pending",
        message: outcome.message,
      };
    case "withdrawing":
      // Its objects go one after the other, which is nothing to report each.
      return {
        ...base,
        ...unseen,
        deploymentId: held.deploymentId,
        phase: "withdrawing",
        message: outcome.message,
      };
    case "failed":
      return {
        ...base,
        deploymentId: outcome.deploymentId,
        phase: "failed",
        message: outcome.message,
        code: outcome.code,
        ...(outcome.retryAt !== undefined && { retryAt: outcome.retryAt }),
      };
    case "deployed":
      return {
        ...base,
        deploymentId: outcome.deploymentId,
        phase: "deployed",
        message: outcome.message ?? "",
        release: outcome.release,
        ready: readiness.ready,
        ...(outcome.chartDigest !== undefined && { chartDigest: outcome.chartDigest }),
      };
  }
}
