/**
 * Negotiation of the wire's version. Pure. The agent sends the range that it supports, the hub responds with the newest
 * version in both ranges. docs/adr/0020 describes how to add a version.
 */
export interface VersionRange {
  readonly oldest: number;
  readonly newest: number;
}

/** The versions of this build. */
export const supportedVersions: VersionRange = { oldest: 1, newest: 2 };

/** The first version in which the hub sends requests of users. */
export const requestsVersion = 2;

export type Negotiation =
  | { readonly kind: "agreed"; readonly version: number }
  /** `outdated`: the side that has to be upgraded. */
  | { readonly kind: "incompatible"; readonly outdated: "own" | "peer" };

/** The newest version that both sides support. */
export function negotiateVersion(own: VersionRange, peer: VersionRange): Negotiation {
  const version = Math.min(own.newest, peer.newest);
  if (version >= own.oldest && version >= peer.oldest) return { kind: "agreed", version };
  return { kind: "incompatible", outdated: own.newest < peer.oldest ? "own" : "peer" };
}

/** For people: `version 1`, `versions 1 to 2`. */
export function describeVersions({ oldest, newest }: VersionRange): string {
  return oldest === newest ? `version ${oldest}` : `versions ${oldest} to ${newest}`;
}
