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

/** How an agent makes the chart from what it fetched; the chart gets the version of the pin. */
const buildSchema = z.strictObject({
  /** Files that are merged in this order, the last one wins, and replace the chart's `values.yaml`. */
  valuesFiles: z.array(z.string().min(1)).optional(),
  ignoreMissingValuesFiles: z.boolean().optional(),
});

/** The files of one commit of a Git repository. */
const gitTreeFields = {
  url: z.string().regex(/^(?:https?|ssh):\/\//i),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  recurseSubmodules: z.boolean().optional(),
  /** Only these directories are checked out; absent: all. */
  sparseCheckout: z.array(z.string().min(1)).optional(),
  /** `spec.ignore` of the GitRepository. */
  ignore: z.string().optional(),
};

export const pinSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("http"),
      version: z.string().min(1),
      url: httpAddress,
      /** The digest of the archive; absent when the index has none. */
      digest: sha256Schema.optional(),
      /** Absent: the archive is the chart. */
      build: buildSchema.optional(),
    }),
    z.strictObject({
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
    }),
    z.strictObject({ kind: z.literal("tarball"), url: httpAddress }),
    z.strictObject({
      kind: z.literal("git"),
      version: z.string().min(1),
      ...gitTreeFields,
      /** The path of the chart, from the root of the repository. */
      path: z.string().min(1),
      /** Files of other repositories, which are copied into this one. */
      include: z
        .array(z.strictObject({ ...gitTreeFields, fromPath: z.string(), toPath: z.string() }))
        .optional(),
      build: buildSchema,
    }),
    z.strictObject({
      kind: z.literal("bucket"),
      version: z.string().min(1),
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
    }),
  ])
  .readonly();

export interface HttpPin {
  readonly kind: "http";
  readonly version: string;
  readonly url: string;
  readonly digest?: string | undefined;
  readonly build?: ChartBuild | undefined;
}

export interface OciPin {
  readonly kind: "oci";
  readonly version: string;
  readonly repository: string;
  readonly tag: string;
  readonly manifestDigest: string;
  readonly layerDigest: string;
  readonly layerSizeBytes: number;
  readonly build?: ChartBuild | undefined;
}

export interface ArchivePin {
  readonly kind: "tarball";
  readonly url: string;
}

/** How an agent makes the chart from what it fetched; the chart gets the version of the pin. */
export interface ChartBuild {
  /** Files that are merged in this order, the last one wins, and replace the chart's `values.yaml`. */
  readonly valuesFiles?: readonly string[] | undefined;
  readonly ignoreMissingValuesFiles?: boolean | undefined;
}

/** The files of one commit of a Git repository. */
export interface GitTree {
  readonly url: string;
  /** 40 hex digits. */
  readonly commit: string;
  readonly recurseSubmodules?: boolean | undefined;
  /** Only these directories are checked out; absent: all. */
  readonly sparseCheckout?: readonly string[] | undefined;
  /** `spec.ignore` of the GitRepository. */
  readonly ignore?: string | undefined;
}

export interface GitPin extends GitTree {
  readonly kind: "git";
  readonly version: string;
  /** The path of the chart, from the root of the repository. */
  readonly path: string;
  /** Files of other repositories, which are copied into this one. */
  readonly include?: readonly GitInclude[] | undefined;
  readonly build: ChartBuild;
}

export interface GitInclude extends GitTree {
  readonly fromPath: string;
  readonly toPath: string;
}

/** The objects of a bucket whose keys and ETags have this digest. */
export interface BucketPin {
  readonly kind: "bucket";
  readonly version: string;
  /** HOST or HOST:PORT. */
  readonly endpoint: string;
  readonly bucketName: string;
  readonly region?: string | undefined;
  /** Plain HTTP. */
  readonly insecure?: boolean | undefined;
  readonly prefix?: string | undefined;
  /** `spec.ignore` of the Bucket. */
  readonly ignore?: string | undefined;
  readonly digest: string;
  /** The path of the chart, from the root of the bucket: a directory or an archive. */
  readonly path: string;
  readonly build: ChartBuild;
}

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
 * Whether the digest of a pin says nothing of the bytes: that of a bucket covers the ETags of its objects, which its server
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
