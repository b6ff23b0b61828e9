/** Revocation of a cluster's key, by an annotation. Pure. */
import type { Cluster } from "@flotilla/shared/api";
import { revokedAtAnnotation } from "@flotilla/shared/api/names";

export interface Revocation {
  /** The value of the annotation. */
  readonly text: string;
  /** ms since 1970, in whole seconds like the creation of tokens; Infinity where the value is not a time. */
  readonly at: number;
}

export function revocationOf({ metadata }: Cluster): Revocation | undefined {
  const text = metadata.annotations?.[revokedAtAnnotation];
  if (text === undefined) return undefined;
  const at = Math.floor(Date.parse(text) / 1_000) * 1_000;
  return { text, at: Number.isNaN(at) ? Number.POSITIVE_INFINITY : at };
}

/** ms since 1970; 0 for a token without a time of creation. */
export function createdAtOf({ createdAt }: { readonly createdAt: string }): number {
  return Date.parse(createdAt) || 0;
}

export function revokedText(cluster: string, { text, at }: Revocation): string {
  return Number.isFinite(at)
    ? `Cluster ${cluster} was revoked at ${text}`
    : `Cluster ${cluster} was revoked (its annotation ${revokedAtAnnotation} is ${JSON.stringify(text.slice(0, 40))}, which is not a time: no token is newer until it is corrected)`;
}
