/** What the agent of one cluster has answered to a plan, or why there is no answer. */
import type { PlanAnswer, PlanResult } from "@flotilla/shared/plan";

/**
 * Why the plan of a cluster is not known.
 *
 * - `Offline`: its agent is not connected.
 * - `Outdated`: its agent, or the replica that it is connected to, has a version without plans.
 * - `Unplannable`: somebody else than the hub wrote its BundleDeployment, so that what that says counts for nothing.
 * - `Failed`: it was asked, and there is no answer that can be read.
 */
export type UnknownReason = "Offline" | "Outdated" | "Unplannable" | "Failed";

/** There is no answer. It never stands for "no change". */
export interface UnknownPlan {
  readonly kind: "unknown";
  readonly reason: UnknownReason;
  /** For people. */
  readonly message: string;
}

export interface KnownPlan {
  readonly kind: "known";
  readonly result: PlanResult;
}

export type PlanOutcome = KnownPlan | UnknownPlan;

/** What one question to an agent comes to. */
export type AgentAnswer = { readonly kind: "answered"; readonly answer: PlanAnswer } | UnknownPlan;

/** A cluster that is asked, and for which content. */
export interface PlanTarget {
  /** `namespace/name` of its Cluster. */
  readonly cluster: string;
  /** Its BundleDeployment. */
  readonly deployment: { readonly name: string; readonly uid: string };
  /** The content that is planned. */
  readonly deploymentId: string;
  /** Whether its agent has that content, so that its digest is enough. */
  readonly hasContent: boolean;
  /** The packed content itself, where it is not stored. */
  readonly content?: Uint8Array | undefined;
  /** What the content refers to and the assigned one does not, as `Secret/NAME`. */
  readonly objects: readonly string[];
}

export interface PlanQuestion {
  /** Random, one for all clusters of a plan: the key of the digests of masked values. */
  readonly key: Uint8Array;
  readonly withText: boolean;
}

/** Asks one agent, wherever it is connected. Never rejects: what went wrong is a part of the plan. */
export type AskAgent = (
  target: PlanTarget,
  question: PlanQuestion,
  signal: AbortSignal,
) => Promise<AgentAnswer>;
