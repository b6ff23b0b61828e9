/**
 * Signatures that cosign made with a key: over the simple signing payload, or over the statement of a Sigstore bundle. Pure.
 */

import { createPublicKey, type KeyObject, verify } from "node:crypto";
import * as z from "zod";
import { parseBounded } from "../../../text/json/index.ts";

export type OciSignature =
  | { readonly kind: "simple"; readonly payload: Uint8Array; readonly signature: string }
  | { readonly kind: "bundle"; readonly bundle: unknown };

const payloadSchema = z.object({
  critical: z.object({
    type: z.literal("cosign container image signature"),
    image: z.object({ "docker-manifest-digest": z.string() }),
  }),
});

const bundleSchema = z.object({
  dsseEnvelope: z.object({
    payload: z.string(),
    payloadType: z.literal("application/vnd.in-toto+json"),
    signatures: z.array(z.object({ sig: z.string() })).max(16),
  }),
});

/** What a signature says; attestations, such as an SBOM, are signed with the same keys and say nothing about trust. */
const statementSchema = z.object({
  predicateType: z.literal("https://sigstore.dev/cosign/sign/v1"),
  subject: z.array(z.object({ digest: z.object({ sha256: z.string() }) })).max(64),
});

/** Whether one of the keys (PEM) has signed the digest. Whatever cannot be parsed is not a signature. */
export function hasSignature(
  signature: OciSignature,
  digest: string,
  publicKeys: readonly string[],
): boolean {
  const keys = publicKeys.flatMap((pem) => publicKeyOf(pem) ?? []);
  return signature.kind === "simple"
    ? isSimpleSignature(signature, digest, keys)
    : isBundle(signature.bundle, digest, keys);
}

/** Undefined for anything but a public key with which cosign signs. */
export function publicKeyOf(pem: string): KeyObject | undefined {
  if (!/-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(pem)) return undefined;
  try {
    const key = createPublicKey(pem);
    return ["ec", "ed25519", "rsa"].includes(key.asymmetricKeyType ?? "") ? key : undefined;
  } catch {
    return undefined;
  }
}

function isSimpleSignature(
  { payload, signature }: Extract<OciSignature, { readonly kind: "simple" }>,
  digest: string,
  keys: readonly KeyObject[],
): boolean {
  const parsed = payloadSchema.safeParse(jsonOf(payload));
  return (
    parsed.success &&
    parsed.data.critical.image["docker-manifest-digest"] === digest &&
    isSignedBy(keys, payload, signature)
  );
}

function isBundle(bundle: unknown, digest: string, keys: readonly KeyObject[]): boolean {
  const parsed = bundleSchema.safeParse(bundle);
  if (!parsed.success) return false;
  const { payload, payloadType, signatures } = parsed.data.dsseEnvelope;
  const bytes = Buffer.from(payload, "base64");
  const statement = statementSchema.safeParse(jsonOf(bytes));
  if (!statement.success) return false;
  const hasSubject = statement.data.subject.some(
    (subject) => `sha256:${subject.digest.sha256}` === digest,
  );
  // The pre-authentication encoding of DSSE.
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `;
  const signed = Buffer.concat([Buffer.from(head), bytes]);
  return hasSubject && signatures.some(({ sig }) => isSignedBy(keys, signed, sig));
}

function isSignedBy(keys: readonly KeyObject[], data: Uint8Array, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64");
  return keys.some((key) => {
    try {
      return verify(key.asymmetricKeyType === "ed25519" ? null : "sha256", data, key, bytes);
    } catch {
      return false;
    }
  });
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseBounded(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
