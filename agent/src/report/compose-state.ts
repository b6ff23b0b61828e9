/** What is reported of a deployment, from what became of it and how its objects are. Pure. */
import type { DeploymentState, ReleaseInfo, ResourceTally } from "@flotilla/proto/messages.ts";
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

const noResources: ResourceTally = {
  desiredReady: 0,
  ready: 0,
  notReady: 0,
  missing: 0,
  unknown: 0,
};

export function composeState(
  held: HeldAssignment,
  outcome: Outcome,
  readiness: Readiness | undefined,
): DeploymentState {
  const base = { ...held.owner, ready: false, notReady: [], counts: noResources, message: "" };
  switch (outcome.kind) {
    case "pending":
      return {
        ...base,
        deploymentId: held.deploymentId,
        phase: "pending",
        message: outcome.message,
      };
    case "withdrawing":
      return {
        ...base,
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
        ready: readiness?.ready ?? false,
        notReady: readiness?.notReady ?? [],
        counts: readiness?.counts ?? noResources,
        ...(outcome.chartDigest !== undefined && { chartDigest: outcome.chartDigest }),
      };
  }
}
