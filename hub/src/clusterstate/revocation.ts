/** That a person has taken a cluster's key away. Pure. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { revokedAtAnnotation } from "@flotilla/shared/api/names.ts";

export interface Revocation {
  /** As the person wrote it. */
  readonly text: string;
  /** ms since 1970, to the second, as tokens tell their age; what is no time has no token after it. */
  readonly at: number;
}

export function revocationOf({ metadata }: Cluster): Revocation | undefined {
  const text = metadata.annotations?.[revokedAtAnnotation];
  if (text === undefined) return undefined;
  const at = Math.floor(Date.parse(text) / 1_000) * 1_000;
  return { text, at: Number.isNaN(at) ? Number.POSITIVE_INFINITY : at };
}

/** ms since 1970; 0 for a token that does not say when it was made. */
export function createdAtOf({ createdAt }: { readonly createdAt: string }): number {
  return Date.parse(createdAt) || 0;
}

export function revokedText(cluster: string, { text, at }: Revocation): string {
  return Number.isFinite(at)
    ? `Cluster ${cluster} was revoked at ${text}`
    : `Cluster ${cluster} was revoked (its annotation ${revokedAtAnnotation} is ${JSON.stringify(text.slice(0, 40))}, which is no time: no token is newer than that until somebody corrects it)`;
}
