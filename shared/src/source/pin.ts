/** A pin: the one archive that a reference resolved to, by its address and the digest that it must have. Pure. */
import { z } from "zod";
import { unreachable } from "../errors/index.ts";
import { describeUrl } from "./address.ts";
import { parseOciName } from "./location.ts";

/** `sha256:` and 64 lower-case hex digits. */
export const sha256Schema = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const httpAddress = z.string().regex(/^https?:\/\//i);

export const pinSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("http"),
      version: z.string().min(1),
      url: httpAddress,
      /** Of the archive; absent when the index has none. */
      digest: sha256Schema.optional(),
    }),
    z.strictObject({
      kind: z.literal("oci"),
      version: z.string().min(1),
      repository: z.string().refine((text) => parseOciName(text) !== undefined),
      tag: z.string().min(1),
      manifestDigest: sha256Schema,
      /** Of the archive. */
      layerDigest: sha256Schema,
      layerSizeBytes: z.int().nonnegative(),
    }),
    z.strictObject({ kind: z.literal("tarball"), url: httpAddress }),
  ])
  .readonly();

export interface HttpPin {
  readonly kind: "http";
  readonly version: string;
  readonly url: string;
  readonly digest?: string | undefined;
}

export interface OciPin {
  readonly kind: "oci";
  readonly version: string;
  readonly repository: string;
  readonly tag: string;
  readonly manifestDigest: string;
  readonly layerDigest: string;
  readonly layerSizeBytes: number;
}

export interface ArchivePin {
  readonly kind: "tarball";
  readonly url: string;
}

export type Pin = HttpPin | OciPin | ArchivePin;

/** The digest that the archive must have; undefined when the source has none. */
export function archiveDigest(pin: Pin): string | undefined {
  switch (pin.kind) {
    case "http":
      return pin.digest;
    case "oci":
      return pin.layerDigest;
    case "tarball":
      return undefined;
    default:
      return unreachable(pin);
  }
}

/** A pin in a message: its version and address. */
export function describePin(pin: Pin): string {
  switch (pin.kind) {
    case "http":
      return `${pin.version} at ${describeUrl(pin.url)}`;
    case "oci":
      return `${pin.repository}:${pin.tag}`;
    case "tarball":
      return describeUrl(pin.url);
    default:
      return unreachable(pin);
  }
}
