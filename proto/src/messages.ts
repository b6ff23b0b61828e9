/**
 * The messages between hub and agent as closed unions. The rest of the product uses these types; the wire format
 * (fleet.proto) stays inside this package.
 */
import type { DeploymentKey, DeploymentState, SourceDigest } from "./deployment-state.ts";
import type { VersionRange } from "./versions.ts";

/** A deployment that the agent has stored. */
export interface ObservedDeployment extends DeploymentKey {
  readonly deploymentId: string;
  readonly paused: boolean;
  readonly withdrawing: boolean;
  /** The token of the stored request of a user. */
  readonly requestToken?: string;
  /** `at` of the stored verification. */
  readonly verificationAt?: string;
}

/** What was approved to change with a content: the agent plans once more before its first run of Helm for it, and refuses anything else. */
export interface PlanVerification {
  /** The plan that was approved: `spec.promotion.planned` of the BundleDeployment. */
  readonly diff: string;
  /** The key of the digests of masked values. Secret. */
  readonly key: Uint8Array;
  /** When it was promoted: identifies the verification. */
  readonly at: string;
}

/** A request of a user to reconcile a release at once. Each token is handled once. */
export interface ReleaseRequest {
  readonly token: string;
  /** Helm upgrades the release, whatever its state. */
  readonly force: boolean;
  /** Failed attempts before the request do not count. */
  readonly reset: boolean;
  /** What others have changed in the objects of the release is changed back, once. */
  readonly correctDrift?: true | undefined;
}

/** A Secret or ConfigMap of the cluster's workspace. */
export interface ObjectRef {
  readonly kind: ObjectRefKind;
  readonly name: string;
}

export type ObjectRefKind = "Secret" | "ConfigMap";

/** A referenced object that the agent has stored. */
export interface ObservedObject extends ObjectRef {
  /** Absent: the hub had no such object. */
  readonly digest?: string;
}

export type AgentMessage =
  | {
      readonly kind: "hello";
      /** The versions that the agent supports. */
      readonly versions: VersionRange;
      readonly hubId: string;
      readonly agentVersion: string;
      readonly agentNamespace: string;
      readonly deployments: readonly ObservedDeployment[];
      /** The digest of the stored ClusterInfo. */
      readonly clusterInfoDigest?: string;
      readonly referencedObjects: readonly ObservedObject[];
      /** The digest of the authorities that it verifies its hub with. */
      readonly authoritiesDigest?: string;
      /** What it can do beyond the version of the protocol; absent: its version says so. */
      readonly capabilities?: readonly string[];
      /** The version of the cluster's Kubernetes; absent: it is not known. */
      readonly kubernetesVersion?: string;
    }
  | {
      readonly kind: "deploymentAck";
      readonly deployment: DeploymentKey;
      /** Absent for a withdrawal. */
      readonly deploymentId?: string;
    }
  | { readonly kind: "state"; readonly sequence: number; readonly state: DeploymentState }
  | { readonly kind: "withdrawn"; readonly deployment: DeploymentKey }
  | ({ readonly kind: "answerChunk" } & AnswerChunk);

export type HubMessage =
  | {
      readonly kind: "welcome";
      /** The negotiated version of this stream. */
      readonly protocolVersion: number;
      readonly hubId: string;
      /** Higher for every later stream of the same cluster. */
      readonly epoch: number;
      readonly hubVersion: string;
    }
  | {
      readonly kind: "deployment";
      readonly deployment: DeploymentKey;
      readonly deploymentId: string;
      /** gzip of canonical JSON; absent when the agent has it. */
      readonly content?: Uint8Array;
      readonly paused: boolean;
      readonly request?: ReleaseRequest;
      /** What the first cluster of its Bundle received for a chart whose pin does not say which bytes it means. */
      readonly sources?: readonly SourceDigest[];
      /** Only with a content: without one, what was approved with the content before stays. */
      readonly verification?: PlanVerification;
    }
  | {
      readonly kind: "withdrawal";
      readonly deployment: DeploymentKey;
      /** Only for a deployment that the agent does not have, and had: for finding its release. */
      readonly lost?: LostContent;
      /** The release stays installed, and the agent only forgets the deployment. */
      readonly keepsRelease?: true;
    }
  | { readonly kind: "synced"; readonly orphans: readonly string[] }
  | { readonly kind: "stateAck"; readonly name: string; readonly sequence: number }
  | { readonly kind: "clusterInfo"; readonly digest: string; readonly content: Uint8Array }
  | { readonly kind: "referencedObject"; readonly object: ReferencedObject }
  | { readonly kind: "referencedObjectWithdrawal"; readonly object: ObjectRef }
  | { readonly kind: "authorities"; readonly pem: string }
  /** Only on streams of version 2. */
  | ({ readonly kind: "request" } & AgentRequest)
  | { readonly kind: "requestCancellation"; readonly id: string };

/** A request of a user to one agent, beside the deployments: nothing of it is stored on the hub. */
export interface AgentRequest {
  /** No other request of the stream has it. */
  readonly id: string;
  readonly deployment: DeploymentKey;
  readonly body: RequestBody;
}

/** What an agent is asked for. */
export type RequestBody = UserRequestBody | ({ readonly kind: "plan" } & PlanOptions);

/** What a user wants to read of a release. */
export type UserRequestBody =
  | ({ readonly kind: "log" } & LogOptions)
  /** The objects as they are against the manifest's. */
  | { readonly kind: "diff" }
  /** All revisions that Helm has stored. */
  | { readonly kind: "history" }
  /** The objects of the release, and what its workloads have created. */
  | { readonly kind: "resources" }
  /** The events on these objects. */
  | { readonly kind: "events" }
  | ({ readonly kind: "values" } & ValuesOptions);

/** What Helm would change in the cluster if this content were assigned: only for agents with the capability `Plan`. */
export interface PlanOptions {
  /** The digest of the content to plan: of the assigned one, or of another. */
  readonly deploymentId: string;
  /** gzip of canonical JSON; absent: the agent has this content. */
  readonly content?: Uint8Array;
  /** Random: the key of the digests of masked values. All requests of one plan have the same. */
  readonly key: Uint8Array;
  /** The text of the changes follows the line of the result. */
  readonly withText: boolean;
  /** What this content refers to and the assigned one does not. */
  readonly objects: readonly ReferencedObject[];
}

/** The agent gets the values of the Bundle and of a target as one; this separates them again. */
export interface ValuesOptions {
  /** The target whose options the cluster gets, for people. */
  readonly target: string;
  /** Paths, as of `helm --set`, of the values that this target sets. */
  readonly targetPaths: readonly string[];
}

export interface LogOptions {
  /** Absent: of all pods. */
  readonly pod?: string;
  /** Absent: of all containers. */
  readonly container?: string;
  /** The last lines of each container. */
  readonly tailLines: number;
  /** Only lines of the last seconds. */
  readonly sinceSeconds?: number;
  /** The logs of the instance before the last restart. */
  readonly previous: boolean;
  /** The logs of the pods of tests instead of the workloads' pods. */
  readonly tests: boolean;
}

/** A part of an answer. */
export interface AnswerChunk {
  readonly id: string;
  /** UTF-8; a character may be in two chunks. */
  readonly data: Uint8Array;
  /** In the last chunk. */
  readonly end?: AnswerEnd;
}

/** How an answer ended; `failure`: an error code (docs/errors.md), and a message for people. */
export interface AnswerEnd {
  readonly failure?: { readonly code: string; readonly message: string };
}

/** What was assigned last to an agent that has lost it. */
export interface LostContent {
  readonly deploymentId: string;
  /** gzip of canonical JSON. */
  readonly content: Uint8Array;
}

/** A Secret or ConfigMap that a deployment refers to; `packed` is absent when the hub has no such object. */
export interface ReferencedObject extends ObjectRef {
  readonly packed?: {
    readonly digest: string;
    /** gzip of canonical JSON. */
    readonly content: Uint8Array;
  };
}

export interface EnrollRequest {
  readonly token: string;
  /** PKCS #10, DER. */
  readonly certificateRequest: Uint8Array;
  readonly clientId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly clusterName?: string;
}

export interface IssuedCertificate {
  readonly chainPem: string;
  readonly authoritiesPem: string;
}

export interface EnrollResponse {
  readonly certificate: IssuedCertificate;
  readonly hubId: string;
  readonly clusterNamespace: string;
  readonly clusterName: string;
  readonly clusterUid: string;
}
