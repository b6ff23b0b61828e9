/** The reported state of a deployment, from its result and the readiness of its objects. Pure. */
import type { DeploymentState, ReleaseInfo } from "@flotilla/proto";
import { type BundleState, bundleStateOf } from "@flotilla/shared/api";
import type { Assignment } from "../../state/index.ts";
import type { Readiness } from "../readiness/readiness.ts";

/** The result of the last reconcile of a deployment. */
export type DeploymentResult =
  /** Not installed yet; `message` has the reason. No message has the time of the retry: see `resultNow`. */
  | {
      readonly kind: "pending";
      readonly message: string;
      readonly retryAt?: string;
      /** The names of dependencies that are not ready. */
      readonly waitsFor?: readonly string[];
    }
  | {
      readonly kind: "deployed";
      readonly deploymentId: string;
      readonly release: ReleaseInfo;
      readonly chartDigest?: string;
      /** A warning. */
      readonly message?: string;
      /** The agent waits until then for it to become ready, RFC 3339. */
      readonly awaitsUntil?: string;
    }
  | {
      readonly kind: "failed";
      readonly deploymentId: string;
      readonly message: string;
      /** From the catalogue of errors. */
      readonly code: string;
      /** RFC 3339; absent if nothing is retried before a change. */
      readonly retryAt?: string;
      /** `at` of the verification that has failed. */
      readonly refusedAt?: string;
    }
  /** Being uninstalled; `message` has the last error. */
  | {
      readonly kind: "withdrawing";
      readonly message: string;
      readonly code?: string;
      readonly retryAt?: string;
    };

/** Before the objects were read. */
const unknownReadiness: Readiness = {
  ready: false,
  notReady: [],
  resources: [],
  incomplete: false,
  counts: { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 },
};

/** The objects of an installed release are reported also while a newer content waits or fails. */
export function toDeploymentState(
  assignment: Assignment,
  result: DeploymentResult,
  readiness: Readiness = unknownReadiness,
): DeploymentState {
  const { runningJob: _, ...objects } = readiness;
  const { name, uid } = assignment.owner;
  const base = { name, uid, ...objects, ready: false, message: "" };
  switch (result.kind) {
    case "pending":
      return {
        ...base,
        deploymentId: assignment.deploymentId,
        phase: "pending",
        message: result.message,
        ...(result.retryAt !== undefined && { retryAt: result.retryAt }),
        ...(result.waitsFor !== undefined && { waitsFor: result.waitsFor }),
      };
    case "withdrawing":
      // The objects are deleted one by one; a report for each would be useless.
      return {
        ...base,
        ...unknownReadiness,
        deploymentId: assignment.deploymentId,
        phase: "withdrawing",
        message: result.message,
        ...(result.code !== undefined && { code: result.code }),
        ...(result.retryAt !== undefined && { retryAt: result.retryAt }),
      };
    case "failed":
      return {
        ...base,
        deploymentId: result.deploymentId,
        phase: "failed",
        message: result.message,
        code: result.code,
        ...(result.retryAt !== undefined && { retryAt: result.retryAt }),
        ...(result.refusedAt !== undefined && { refusedAt: result.refusedAt }),
      };
    case "deployed":
      return {
        ...base,
        deploymentId: result.deploymentId,
        phase: "deployed",
        message: result.message ?? "",
        release: result.release,
        ready: readiness.ready && result.awaitsUntil === undefined,
        ...(result.chartDigest !== undefined && { chartDigest: result.chartDigest }),
      };
  }
}

/** By the rule of the hub's summaries. `desiredId`: the deployment id to be installed. */
export function toBundleState(state: DeploymentState, desiredId: string): BundleState {
  return bundleStateOf({
    isApplied: state.phase === "deployed" && state.deploymentId === desiredId,
    hasFailed: state.phase === "failed",
    isReady: state.ready,
    isHeldBack: false,
    isModified: (state.drift?.count ?? 0) > 0 && state.drift?.isWarning !== true,
  });
}
