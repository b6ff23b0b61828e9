/**
 * What hub and agent say to each other, as closed unions.
 *
 * These are the types that the rest of the product sees; how they travel (fleet.proto) stays inside this package.
 */
import type { VersionRange } from "./versions.ts";

/** A BundleDeployment by name, and by the UID that tells it from an earlier one of that name. */
export interface DeploymentKey {
  readonly name: string;
  readonly uid: string;
}

export interface ObservedDeployment extends DeploymentKey {
  readonly deploymentId: string;
  readonly paused: boolean;
  readonly withdrawing: boolean;
}

/** What the hub may hand out besides deployments, by what it is called in the cluster's workspace. */
export interface ObjectRef {
  readonly kind: ObjectRefKind;
  readonly name: string;
}

export type ObjectRefKind = "Secret" | "ConfigMap";

export interface ObservedObject extends ObjectRef {
  /** Absent: the hub had no such object when it was last asked. */
  readonly digest?: string;
}

export type AgentMessage =
  | {
      readonly kind: "hello";
      /** The versions that the agent speaks. */
      readonly versions: VersionRange;
      readonly hubId: string;
      readonly agentVersion: string;
      readonly agentNamespace: string;
      readonly inventory: readonly ObservedDeployment[];
      /** Of the facts that it holds. */
      readonly clusterInfoDigest?: string;
      readonly referencedObjects: readonly ObservedObject[];
      /** Of what it trusts its hub by. */
      readonly authoritiesDigest?: string;
    }
  | {
      readonly kind: "received";
      readonly deployment: DeploymentKey;
      /** Absent for a withdrawal. */
      readonly deploymentId?: string;
    }
  | { readonly kind: "state"; readonly sequence: number; readonly state: DeploymentState }
  | { readonly kind: "withdrawn"; readonly deployment: DeploymentKey };

export type HubMessage =
  | {
      readonly kind: "welcome";
      /** What is spoken on this stream. */
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
      /** gzip of canonical JSON; absent when the agent holds it. */
      readonly content?: Uint8Array;
      readonly paused: boolean;
    }
  | { readonly kind: "withdrawal"; readonly deployment: DeploymentKey }
  | { readonly kind: "synced"; readonly orphans: readonly string[] }
  | { readonly kind: "stateReceived"; readonly name: string; readonly sequence: number }
  | { readonly kind: "facts"; readonly digest: string; readonly content: Uint8Array }
  | { readonly kind: "supply"; readonly object: ReferencedObject }
  | { readonly kind: "supplyWithdrawal"; readonly object: ObjectRef }
  | { readonly kind: "authorities"; readonly pem: string };

/** A Secret or ConfigMap of the workspace; `packed` is absent where the hub has no such object. */
export interface ReferencedObject extends ObjectRef {
  readonly packed?: {
    readonly digest: string;
    /** gzip of canonical JSON. */
    readonly content: Uint8Array;
  };
}

/** `pending`: nothing came of it yet. `failed`: the last try did not succeed, what was installed before stays. */
export type DeploymentPhase = "pending" | "deployed" | "failed" | "withdrawing";

/** What an agent reports of one deployment. */
export interface DeploymentState extends DeploymentKey {
  /** The content that this speaks of: the one installed, or tried last. */
  readonly deploymentId: string;
  readonly phase: DeploymentPhase;
  /** For a person; "" when there is nothing to say. */
  readonly message: string;
  /** RFC 3339; when it is tried again by itself. */
  readonly retryAt?: string;
  readonly release?: ReleaseInfo;
  readonly ready: boolean;
  /** At most ten, in a stable order. */
  readonly notReady: readonly UnreadyResource[];
  /** The first of what is installed, in a stable order that does not depend on their states. */
  readonly resources: readonly ResourceState[];
  /** There is more than the lists hold. */
  readonly incomplete: boolean;
  readonly counts: ResourceCounts;
  /** `sha256:` and hex, of the chart archive that was installed. */
  readonly chartDigest?: string;
  /** Which failure `message` tells of, from the catalogue of errors. */
  readonly code?: string;
}

export interface ReleaseInfo {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly chartVersion: string;
  readonly appVersion: string;
}

/** An installed object: `unknown` is what the agent cannot see. */
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
