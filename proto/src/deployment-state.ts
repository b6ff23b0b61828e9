/** What an agent reports of a deployment, as closed unions. The wire format stays inside this package. */

/** A BundleDeployment by name and UID; one that was deleted and created again has another UID. */
export interface DeploymentKey {
  readonly name: string;
  readonly uid: string;
}

/** `pending`: no result yet. `failed`: the last attempt failed, the release installed before stays. */
export type DeploymentPhase = "pending" | "deployed" | "failed" | "withdrawing";

/** The state of one deployment, as its agent reports it. */
export interface DeploymentState extends DeploymentKey {
  /** The content that the other fields describe: the one installed, or attempted last. */
  readonly deploymentId: string;
  readonly phase: DeploymentPhase;
  /** For people; may be empty. */
  readonly message: string;
  /** RFC 3339; absent: no retry until an input changes. */
  readonly retryAt?: string;
  readonly release?: ReleaseInfo;
  readonly ready: boolean;
  /** At most ten, in a stable order. */
  readonly notReady: readonly UnreadyResource[];
  /** The first objects of the release, in a stable order that does not depend on their states. */
  readonly resources: readonly ResourceState[];
  /** The lists are cut. */
  readonly incomplete: boolean;
  readonly counts: ResourceCounts;
  /** `sha256:` and hex, of the chart archive that was installed. */
  readonly chartDigest?: string;
  /** What was received for the chart, where its pin does not say it. */
  readonly source?: SourceDigest;
  /** What failed, where `message` says what happens next, too. */
  readonly cause?: string;
  /** The error code of the failure (docs/errors.md). */
  readonly code?: string;
  /** Those that do not apply are absent. Undefined: not known, as from agents before 0.3.0. */
  readonly conditions?: readonly ReleaseCondition[];
  /** The newest revisions, newest first. */
  readonly history?: readonly RevisionInfo[];
  /** Attempts at the desired content that have failed in a row, and that changed the release; absent: none. */
  readonly failures?: number;
  /** The same by action; undefined from agents before 0.4.0. */
  readonly failuresBy?: { readonly install: number; readonly upgrade: number };
  /** No release is there any more: nothing that earlier reports say of one still holds. */
  readonly notInstalled?: true;
  /** Undefined: there is none, or drift is not detected. */
  readonly drift?: DriftInfo;
  /** What the last request of a user has come to. Undefined: it is not finished, or the agent is older than 0.4.0. */
  readonly request?: RequestResult;
  /** `at` of the verification that has failed: nothing was changed. */
  readonly refusedAt?: string;
  /** The first deployments of the cluster that it waits for, by `dependsOn`. */
  readonly waitsFor?: readonly string[];
}

/** What a request of a user has come to. */
export interface RequestResult {
  readonly token: string;
  /** See BundleDeployment.status.lastRequest. A newer agent may have others. */
  readonly result: string;
  /** That the result is about. */
  readonly objects?: number | undefined;
  /** The revision of the release. */
  readonly revision?: number | undefined;
  /** The code of a failure. */
  readonly code?: string | undefined;
  /** For people: why it has failed, or waits. */
  readonly message?: string | undefined;
}

/** What an agent received for a pin that does not say which bytes it means. */
export interface SourceDigest {
  /** `sha256:` and hex, of the pin. */
  readonly pin: string;
  /** `sha256:` and hex, of the bytes. */
  readonly digest: string;
}

/** What others have changed in the objects of a release. */
export interface DriftInfo {
  /** The first ones, at most ten. */
  readonly objects: readonly DriftedObject[];
  /** The count of all objects with drift. */
  readonly count: number;
  /** A user has asked for a warning only: the deployment is as ready as without the drift. */
  readonly isWarning?: true;
  /** Newest first. */
  readonly history: readonly DriftRecord[];
}

interface DriftObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The first of them, as JSON pointers. */
  readonly fields: readonly string[];
  readonly manager?: string;
  /** RFC 3339. */
  readonly time?: string;
}

export interface DriftedObject extends DriftObject {
  readonly missing: boolean;
  /** The JSON patch that reverts the first changes, with every text masked; may be empty. */
  readonly patch: string;
}

export interface DriftRecord extends DriftObject {
  readonly time: string;
  /** `Detected`, `Corrected`, `CorrectionFailed`, `BackedOff`, or `Foreign` for added fields, which are kept. */
  readonly result: string;
}

/** What agents report of releases. A hub leaves out what it does not know. */
export const reportedConditionTypes = [
  "Released",
  "TestSuccess",
  "Remediated",
  "Drifted",
  "Reconciling",
  "Stalled",
] as const;

/** A condition of a release, with Flux's types and reasons. */
export interface ReleaseCondition {
  readonly type: (typeof reportedConditionTypes)[number];
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** A revision of a release that the agent created. */
export interface RevisionInfo {
  readonly revision: number;
  /** Helm's. */
  readonly status: string;
  readonly action?: string;
  readonly chartName: string;
  readonly chartVersion: string;
  readonly appVersion: string;
  /** RFC 3339. */
  readonly deployedAt?: string;
  readonly tests: readonly { readonly name: string; readonly phase: string }[];
  /** The release digest; absent: somebody has changed the revision since. */
  readonly digest?: string;
  /** For people: how it was applied, if not as usual. */
  readonly remarks?: readonly string[];
}

export interface ReleaseInfo {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly chartVersion: string;
  readonly appVersion: string;
}

/** An object of the release; `unknown`: the agent cannot read it. */
export interface ResourceState {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly state: ResourceStateName;
}

export const resourceStateNames = [
  "ready",
  "in-progress",
  "failed",
  "terminating",
  "missing",
  "unknown",
] as const;

export type ResourceStateName = (typeof resourceStateNames)[number];

export interface UnreadyResource extends ResourceState {
  readonly message: string;
}

export interface ResourceCounts {
  readonly desiredReady: number;
  readonly ready: number;
  readonly notReady: number;
  readonly missing: number;
  readonly unknown: number;
}
