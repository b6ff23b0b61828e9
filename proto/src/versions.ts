/**
 * Which versions of the wire are spoken, and what is new in each: all that depends on the version is decided here. Pure.
 *
 * The agent says the oldest and the newest version that it speaks, the hub answers with the newest that both do. To add a
 * version: raise `newest`, say in `hubMessageSince` which messages began with it, keep the contract of the version before as
 * a file of the tests (testing/fleet-vN.proto), and run the tests of the version before against it (docs/adr/0020).
 */
import type { HubMessage } from "./messages.ts";

export interface VersionRange {
  readonly oldest: number;
  readonly newest: number;
}

/** What this build speaks: the newest version and the one before. */
export const supportedVersions: VersionRange = { oldest: 1, newest: 2 };

export type Negotiation =
  | { readonly kind: "agreed"; readonly version: number }
  | { readonly kind: "none"; readonly outdated: "own" | "peer" };

/** What two sides speak with each other. */
export function negotiateVersion(own: VersionRange, peer: VersionRange): Negotiation {
  const version = Math.min(own.newest, peer.newest);
  if (version >= own.oldest && version >= peer.oldest) return { kind: "agreed", version };
  return { kind: "none", outdated: own.newest < peer.oldest ? "own" : "peer" };
}

const hubMessageSince: Readonly<Record<HubMessage["kind"], number>> = {
  welcome: 1,
  deployment: 1,
  withdrawal: 1,
  synced: 1,
  stateReceived: 1,
  facts: 1,
  supply: 1,
  supplyWithdrawal: 1,
  authorities: 2,
};

/** Whether a hub may send a message of that kind on a stream of that version. */
export function isSpokenIn(version: number, kind: HubMessage["kind"]): boolean {
  return hubMessageSince[kind] <= version;
}

/** For people: `version 1`, `versions 1 to 2`. */
export function describeVersions({ oldest, newest }: VersionRange): string {
  return oldest === newest ? `version ${oldest}` : `versions ${oldest} to ${newest}`;
}
