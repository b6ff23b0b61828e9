/** Whether the agent goes on as who it is, or enrols: from what it keeps and what it was given. Pure. */
import type { AgentIdentity } from "./agent-identity.ts";
import { type Bootstrap, markOf } from "./bootstrap.ts";

export type IdentityStep =
  /** `hubAddress`: where its hub is now. */
  | { readonly kind: "keep"; readonly hubAddress: string }
  /** There is nothing to enrol with. */
  | { readonly kind: "missing" }
  | {
      readonly kind: "enroll";
      readonly address: string;
      readonly authoritiesPem: string;
      /** "" where the agent's key alone is to open the door. */
      readonly token: string;
      readonly clientId: string | undefined;
      /** The hub that it has to be; `undefined` for whichever the token is of. */
      readonly hubId: string | undefined;
      readonly bootstrapMark: string;
    };

export interface IdentityInputs {
  /** Who the agent is, where it has enrolled before. */
  readonly known: AgentIdentity | undefined;
  /** Whether its certificate is still good. */
  readonly isGood: boolean;
  readonly bootstrap: Bootstrap | undefined;
}

/**
 * A bootstrap Secret that the agent has not enrolled with is an order to do so, at whichever hub it is of. One that it has
 * enrolled with opens no door a second time: whoever deletes a Cluster means it, and gives a new token to have it back.
 */
export function planIdentity({ known, isGood, bootstrap }: IdentityInputs): IdentityStep {
  if (bootstrap !== undefined && known?.bootstrapMark !== markOf(bootstrap)) {
    const { address, authoritiesPem, token } = bootstrap;
    return {
      kind: "enroll",
      address,
      authoritiesPem,
      token,
      clientId: bootstrap.clientId ?? known?.clientId,
      hubId: undefined,
      bootstrapMark: markOf(bootstrap),
    };
  }
  if (known === undefined) return { kind: "missing" };
  // A hub that moved is found at the address that the agent was given last; it is still checked to be the same hub.
  const address = bootstrap?.address ?? known.hubAddress;
  if (isGood) return { kind: "keep", hubAddress: address };
  const { authoritiesPem, clientId, hubId, bootstrapMark } = known;
  return { kind: "enroll", address, authoritiesPem, token: "", clientId, hubId, bootstrapMark };
}
