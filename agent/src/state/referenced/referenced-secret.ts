/**
 * The Secrets in which referenced objects and the cluster info are stored: packed, one Secret each. An object that does not fit
 * is continued in further Secrets, which are immutable and named by their digest. Pure.
 */
import { createHash } from "node:crypto";
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef, parseObjectRef } from "@flotilla/shared/api";
import { agentNamespace } from "@flotilla/shared/api/names";
import { contentParts, type Packed } from "@flotilla/shared/content";
import type { Secret } from "@flotilla/shared/kube/objects";

const referencedLabel = "flotilla.dev/referenced-object";
export const referencedSelector = `${referencedLabel}=true`;
const partLabel = "flotilla.dev/referenced-object-part";
export const referencedPartSelector = `${partLabel}=true`;
const clusterInfoLabel = "flotilla.dev/cluster-info";
export const clusterInfoSelector = `${clusterInfoLabel}=true`;

const annotations = {
  /** The key of a referenced object. */
  object: "flotilla.dev/referenced-object",
  /** The digest of the packed bytes. */
  digest: "flotilla.dev/digest",
  /** The hub does not have the object any more; the data is the last version that it had. */
  missing: "flotilla.dev/gone",
  /** The number of Secrets with the object, this one included. */
  parts: "flotilla.dev/parts",
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

/** Names have at most 253 characters; a longer one ends in a digest instead. Nor do they have a `/`. */
export function referencedSecretName({ kind, name }: ObjectRef): string {
  if (name.includes("/")) {
    const digest = createHash("sha256").update(`${kind}/${name}`).digest("hex").slice(0, 40);
    return `referenced-in-namespace-${digest}`;
  }
  const full = `referenced-${kind.toLowerCase()}-${name}`;
  if (full.length <= 253) return full;
  const digest = createHash("sha256").update(full).digest("hex").slice(0, 16);
  return `${full.slice(0, 236)}-${digest}`;
}

export function referencedSecret({ ref, packed, isMissing }: StoredObject): Secret {
  const [first, ...others] = packed === undefined ? [] : contentParts(packed.bytes);
  const begin = packed && first && { digest: packed.digest, bytes: first };
  return secretOf(referencedSecretName(ref), referencedLabel, begin, {
    [annotations.object]: formatObjectRef(ref),
    ...(isMissing && { [annotations.missing]: "true" }),
    ...(others.length > 0 && { [annotations.parts]: String(others.length + 1) }),
  });
}

/** The Secrets that continue the first one. They are written before it, so that the first one implies the others. */
export function referencedParts({ ref, packed }: StoredObject): readonly Secret[] {
  if (packed === undefined) return [];
  const [, ...others] = contentParts(packed.bytes);
  return others.map((bytes, index) => ({
    ...secretOf(
      partName(ref, packed.digest, index + 1),
      partLabel,
      { digest: packed.digest, bytes },
      { [annotations.object]: formatObjectRef(ref) },
    ),
    immutable: true,
  }));
}

export function clusterInfoSecret(packed: Packed): Secret {
  return secretOf("cluster-info", clusterInfoLabel, packed, {});
}

/** Undefined for any other Secret. Without its data if a part is missing: the hub then sends the object again. */
export function parseReferencedSecret(
  secret: Secret,
  partOf: (name: string) => Secret | undefined = () => undefined,
): StoredObject | undefined {
  const found = secret.metadata.annotations ?? {};
  const ref = parseObjectRef(found[annotations.object] ?? "");
  if (ref === undefined) return undefined;
  const packed = wholeOf(ref, secret, partOf);
  return {
    ref,
    ...(packed !== undefined && { packed }),
    isMissing: found[annotations.missing] === "true",
  };
}

function wholeOf(
  ref: ObjectRef,
  first: Secret,
  partOf: (name: string) => Secret | undefined,
): Packed | undefined {
  const packed = packedIn(first);
  const count = Number(first.metadata.annotations?.[annotations.parts] ?? "1");
  if (packed === undefined || !(count > 1)) return packed;
  const others = Array.from({ length: count - 1 }, (_, index) => {
    const part = partOf(partName(ref, packed.digest, index + 1));
    return part && packedIn(part);
  }).filter((part) => part !== undefined);
  if (others.length < count - 1) return undefined;
  return {
    digest: packed.digest,
    bytes: Buffer.concat([packed, ...others].map(({ bytes }) => bytes)),
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

function partName(ref: ObjectRef, digest: string, part: number): string {
  const id = createHash("sha256")
    .update(`${formatObjectRef(ref)}\n${digest}`)
    .digest("hex");
  return `referenced-part-${id.slice(0, 40)}-${part}`;
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
