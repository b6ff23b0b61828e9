/** How something that the hub supplied lies in the agent's cluster: packed, in one Secret, whatever it is on the hub. Pure. */
import { createHash } from "node:crypto";
import type { SupplyRef } from "@flotilla/proto/messages.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import type { Packed } from "@flotilla/shared/content/packed.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { parseSupplyKey, supplyKey } from "@flotilla/shared/supply/supply.ts";

const supplyLabel = "flotilla.dev/supply";
export const supplySelector = `${supplyLabel}=true`;
const factsLabel = "flotilla.dev/cluster-facts";
export const factsSelector = `${factsLabel}=true`;

const annotations = {
  /** Of a supply: its key. */
  supply: "flotilla.dev/supply",
  /** Of the packed bytes. */
  digest: "flotilla.dev/digest",
  /** The hub has no such object any more; what is here is the last that it had. */
  gone: "flotilla.dev/gone",
} as const;
const dataKey = "content";

/** What is kept of a supply. */
export interface StoredSupply {
  readonly ref: SupplyRef;
  /** The last that the hub had; absent where it never had any. */
  readonly packed?: Packed;
  /** Whether the hub has no such object now. */
  readonly isGone: boolean;
}

/** Names of Secrets end at 253 characters; a longer one ends in a digest. */
export function supplySecretName({ kind, name }: SupplyRef): string {
  const full = `supply-${kind.toLowerCase()}-${name}`;
  if (full.length <= 253) return full;
  const digest = createHash("sha256").update(full).digest("hex").slice(0, 16);
  return `${full.slice(0, 236)}-${digest}`;
}

export function supplySecret({ ref, packed, isGone }: StoredSupply): Secret {
  return secretOf(supplySecretName(ref), supplyLabel, packed, {
    [annotations.supply]: supplyKey(ref),
    ...(isGone && { [annotations.gone]: "true" }),
  });
}

export function factsSecret(packed: Packed): Secret {
  return secretOf("cluster-facts", factsLabel, packed, {});
}

/** Undefined for a Secret that is no supply. */
export function storedSupply(secret: Secret): StoredSupply | undefined {
  const found = secret.metadata.annotations ?? {};
  const ref = parseSupplyKey(found[annotations.supply] ?? "");
  if (ref === undefined) return undefined;
  const packed = packedIn(secret);
  return {
    ref,
    ...(packed !== undefined && { packed }),
    isGone: found[annotations.gone] === "true",
  };
}

/** Undefined where there is nothing in it. */
export function packedIn(secret: Secret): Packed | undefined {
  const digest = secret.metadata.annotations?.[annotations.digest];
  const text = secret.data?.[dataKey];
  return digest === undefined || text === undefined
    ? undefined
    : { digest, bytes: Buffer.from(text, "base64") };
}

function secretOf(
  name: string,
  label: string,
  packed: Packed | undefined,
  more: Readonly<Record<string, string>>,
): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name,
      labels: { [label]: "true" },
      annotations: {
        ...more,
        ...(packed !== undefined && { [annotations.digest]: packed.digest }),
      },
    },
    type: label,
    ...(packed !== undefined && {
      data: { [dataKey]: Buffer.from(packed.bytes).toString("base64") },
    }),
  };
}
