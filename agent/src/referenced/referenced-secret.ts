/** The Secrets in which referenced objects and the cluster info are stored: packed, one Secret each. Pure. */
import { createHash } from "node:crypto";
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef, parseObjectRef } from "@flotilla/shared/api";
import { agentNamespace } from "@flotilla/shared/api/names";
import type { Packed } from "@flotilla/shared/content";
import type { Secret } from "@flotilla/shared/kube/objects";

const referencedLabel = "flotilla.dev/referenced-object";
export const referencedSelector = `${referencedLabel}=true`;
const clusterInfoLabel = "flotilla.dev/cluster-info";
export const clusterInfoSelector = `${clusterInfoLabel}=true`;

const annotations = {
  /** The key of a referenced object. */
  object: "flotilla.dev/referenced-object",
  /** Of the packed bytes. */
  digest: "flotilla.dev/digest",
  /** The hub does not have the object any more; the data is the last version that it had. */
  missing: "flotilla.dev/gone",
} as const;
const dataKey = "content";

/** A referenced object as it is stored. */
export interface StoredObject {
  readonly ref: ObjectRef;
  /** The last version that the hub had; absent if it never had one. */
  readonly packed?: Packed;
  /** The hub does not have the object now. */
  readonly isMissing: boolean;
}

/** Names have at most 253 characters; a longer one ends in a digest instead. */
export function referencedSecretName({ kind, name }: ObjectRef): string {
  const full = `referenced-${kind.toLowerCase()}-${name}`;
  if (full.length <= 253) return full;
  const digest = createHash("sha256").update(full).digest("hex").slice(0, 16);
  return `${full.slice(0, 236)}-${digest}`;
}

export function referencedSecret({ ref, packed, isMissing }: StoredObject): Secret {
  return secretOf(referencedSecretName(ref), referencedLabel, packed, {
    [annotations.object]: formatObjectRef(ref),
    ...(isMissing && { [annotations.missing]: "true" }),
  });
}

export function clusterInfoSecret(packed: Packed): Secret {
  return secretOf("cluster-info", clusterInfoLabel, packed, {});
}

/** Undefined for any other Secret. */
export function parseReferencedSecret(secret: Secret): StoredObject | undefined {
  const found = secret.metadata.annotations ?? {};
  const ref = parseObjectRef(found[annotations.object] ?? "");
  if (ref === undefined) return undefined;
  const packed = packedIn(secret);
  return {
    ref,
    ...(packed !== undefined && { packed }),
    isMissing: found[annotations.missing] === "true",
  };
}

/** Undefined if the Secret has no packed data. */
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
