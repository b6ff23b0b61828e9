/** A pin: the one archive that a reference resolved to, by its address and the digest that it must have. Pure. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { unreachable } from "../../runtime/errors/index.ts";
import { canonicalJson } from "../../text/json/index.ts";
import { describeUrl } from "./address.ts";
import { parseOciName } from "./location.ts";

/** `sha256:` and 64 lower-case hex digits. */
export const sha256Schema = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const httpAddress = z.string().regex(/^https?:\/\//i);

/** The type of a schema, deeply readonly. */
type Typed<S extends z.ZodType> = Immutable<z.infer<S>>;

type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

const buildSchema = z.strictObject({
  /** Files that are merged in this order, the last one wins, and replace the chart's `values.yaml`. */
  valuesFiles: z.array(z.string().min(1)).optional(),
  ignoreMissingValuesFiles: z.boolean().optional(),
});

/** How an agent makes the chart from what it fetched; the chart gets the version of the pin. */
export type ChartBuild = Typed<typeof buildSchema>;

const gitTreeSchema = z.strictObject({
  url: z.string().regex(/^(?:https?|ssh):\/\//i),
  /** 40 hex digits. */
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  recurseSubmodules: z.boolean().optional(),
  /** Only these directories are checked out; absent: all. */
  sparseCheckout: z.array(z.string().min(1)).optional(),
  /** `spec.ignore` of the GitRepository. */
  ignore: z.string().optional(),
});

/** The files of one commit of a Git repository. */
export type GitTree = Typed<typeof gitTreeSchema>;

const gitIncludeSchema = z.strictObject({
  ...gitTreeSchema.shape,
  fromPath: z.string(),
  toPath: z.string(),
});

export type GitInclude = Typed<typeof gitIncludeSchema>;

const httpPinSchema = z.strictObject({
  kind: z.literal("http"),
  version: z.string().min(1),
  url: httpAddress,
  /** The digest of the archive; absent when the index has none. */
  digest: sha256Schema.optional(),
  /** Absent: the archive is the chart. */
  build: buildSchema.optional(),
});

export type HttpPin = Typed<typeof httpPinSchema>;

const ociPinSchema = z.strictObject({
  kind: z.literal("oci"),
  version: z.string().min(1),
  repository: z.string().refine((text) => parseOciName(text) !== undefined),
  tag: z.string().min(1),
  manifestDigest: sha256Schema,
  /** The digest of the archive. */
  layerDigest: sha256Schema,
  layerSizeBytes: z.int().nonnegative(),
  /** Absent: the archive is the chart. */
  build: buildSchema.optional(),
});

export type OciPin = Typed<typeof ociPinSchema>;

const archivePinSchema = z.strictObject({ kind: z.literal("tarball"), url: httpAddress });

export type ArchivePin = Typed<typeof archivePinSchema>;

const gitPinSchema = z.strictObject({
  kind: z.literal("git"),
  version: z.string().min(1),
  ...gitTreeSchema.shape,
  /** The path of the chart, from the root of the repository. */
  path: z.string().min(1),
  /** Files of other repositories, which are copied into this one. */
  include: z.array(gitIncludeSchema).optional(),
  build: buildSchema,
});

export type GitPin = Typed<typeof gitPinSchema>;

const bucketPinSchema = z.strictObject({
  kind: z.literal("bucket"),
  version: z.string().min(1),
  /** HOST or HOST:PORT. */
  endpoint: z.string().min(1),
  bucketName: z.string().min(1),
  region: z.string().optional(),
  /** Plain HTTP. */
  insecure: z.boolean().optional(),
  prefix: z.string().optional(),
  /** `spec.ignore` of the Bucket. */
  ignore: z.string().optional(),
  /** Over the keys and ETags of its objects. */
  digest: sha256Schema,
  /** The path of the chart, from the root of the bucket: a directory or an archive. */
  path: z.string().min(1),
  build: buildSchema,
});

/** The objects of a bucket whose keys and ETags have this digest. */
export type BucketPin = Typed<typeof bucketPinSchema>;

export const pinSchema = z
  .discriminatedUnion("kind", [
    httpPinSchema,
    ociPinSchema,
    archivePinSchema,
    gitPinSchema,
    bucketPinSchema,
  ])
  .readonly();

/** A pin of one archive, which is fetched by one request. */
export type DownloadPin = HttpPin | OciPin | ArchivePin;

/** A pin of a tree of files, from which the agent makes the chart. */
export type TreePin = GitPin | BucketPin;

export type Pin = DownloadPin | TreePin;

export function isTreePin(pin: Pin): pin is TreePin {
  return pin.kind === "git" || pin.kind === "bucket";
}

/** Whether the agent makes the chart itself, so that its archive has a digest that nobody knows before. */
export function isBuilt(pin: Pin): boolean {
  return isTreePin(pin) || (pin.kind !== "tarball" && pin.build !== undefined);
}

/** The version of the chart; "" of an archive at a bare address. */
export function pinnedVersion(pin: Pin): string {
  return pin.kind === "tarball" ? "" : pin.version;
}

/** What identifies the bytes at the source, without secrets of its address. */
export function pinAddress(pin: Pin): string {
  switch (pin.kind) {
    case "oci":
      return `${pin.repository}@${pin.layerDigest}`;
    case "git":
      return `${pin.url}@${pin.commit}`;
    case "bucket":
      return `${pin.endpoint}/${pin.bucketName}@${pin.digest}`;
    case "http":
    case "tarball":
      return pin.url;
    default:
      return unreachable(pin);
  }
}

/** The digest that the downloaded archive must have; undefined when the source has none. */
export function archiveDigest(pin: Pin): string | undefined {
  switch (pin.kind) {
    case "http":
      return pin.digest;
    case "oci":
      return pin.layerDigest;
    case "tarball":
    case "git":
    case "bucket":
      return undefined;
    default:
      return unreachable(pin);
  }
}

/** What was received for a pin that does not say which bytes it means. */
export interface SourceDigest {
  /** `pinDigest` of the pin. */
  readonly pin: string;
  /** The digest of the bytes, `sha256:` and hex. */
  readonly digest: string;
}

/**
 * Whether the digest of a pin says nothing of the bytes: the digest of a bucket covers the ETags of its objects, which its server
 * chooses. An archive without a digest is not such a pin: nobody says that its address always sends the same.
 */
export function isUnbound(pin: Pin): pin is BucketPin {
  return pin.kind === "bucket";
}

/** Identifies a pin. */
export function pinDigest(pin: Pin): string {
  return `sha256:${createHash("sha256").update(canonicalJson(pin)).digest("hex")}`;
}

/** A pin in a message: its version and address. */
export function describePin(pin: Pin): string {
  switch (pin.kind) {
    case "http":
      return `${pin.version} at ${describeUrl(pin.url)}`;
    case "oci":
      return `${pin.repository}${pin.tag.includes(":") ? "@" : ":"}${pin.tag}`;
    case "tarball":
      return describeUrl(pin.url);
    case "git":
      return `${pin.version} at ${describeUrl(pin.url)}@sha1:${pin.commit}`;
    case "bucket":
      return `${pin.version} at ${pin.endpoint}/${pin.bucketName}@${pin.digest}`;
    default:
      return unreachable(pin);
  }
}
