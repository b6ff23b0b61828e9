/** Decides whether the agent keeps its identity or enrols, from its identity and its bootstrap Secret. Pure. */
import type { AgentIdentity } from "./agent-identity.ts";
import { type Bootstrap, bootstrapDigest } from "./bootstrap.ts";

export type EnrolmentPlan =
  /** `hubAddress`: the current address of the hub. */
  | { readonly kind: "keep"; readonly hubAddress: string }
  /** There is no identity and no bootstrap Secret to enrol with. */
  | { readonly kind: "missing" }
  | EnrolRequestPlan;

export interface EnrolRequestPlan {
  readonly kind: "enroll";
  readonly address: string;
  readonly authoritiesPem: string;
  /** Secret. "" to prove the identity only with the agent's key. */
  readonly token: string;
  readonly clientId: string | undefined;
  /** The hub that must answer; `undefined` for the hub that issued the token. */
  readonly hubId: string | undefined;
  readonly bootstrapDigest: string;
}

export interface EnrolmentInputs {
  /** The identity of an earlier enrolment. */
  readonly enrolled: AgentIdentity | undefined;
  /** Whether its certificate has not expired and the hub has not rejected it. */
  readonly isCertificateValid: boolean;
  readonly bootstrap: Bootstrap | undefined;
}

/**
 * A bootstrap Secret that the agent has not enrolled with requests an enrolment with the hub that it names. A Secret that was
 * used is not used again: deleting a Cluster revokes its agent, and only a new token registers the cluster again.
 */
export function planEnrolment({
  enrolled,
  isCertificateValid,
  bootstrap,
}: EnrolmentInputs): EnrolmentPlan {
  if (bootstrap !== undefined) {
    const digest = bootstrapDigest(bootstrap);
    if (enrolled?.bootstrapDigest !== digest) {
      const { address, authoritiesPem, token } = bootstrap;
      return {
        kind: "enroll",
        address,
        authoritiesPem,
        token,
        clientId: bootstrap.clientId ?? enrolled?.clientId,
        hubId: undefined,
        bootstrapDigest: digest,
      };
    }
  }
  if (enrolled === undefined) return { kind: "missing" };
  // The bootstrap Secret has the address of a hub that moved. The hub's id is still verified.
  const address = bootstrap?.address ?? enrolled.hubAddress;
  if (isCertificateValid) return { kind: "keep", hubAddress: address };
  const { authoritiesPem, clientId, hubId } = enrolled;
  return {
    kind: "enroll",
    address,
    authoritiesPem,
    token: "",
    clientId,
    hubId,
    bootstrapDigest: enrolled.bootstrapDigest,
  };
}
