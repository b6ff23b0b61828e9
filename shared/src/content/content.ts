/**
 * What one deployment is to be, in full: the piece that hub and agent agree on by its digest.
 *
 * A content is common to all clusters that get the same, so nothing in it may name a cluster. Two digests are taken
 * of it. The *deployment id* covers everything and decides what is sent to an agent. The *release digest* covers what
 * reaches Helm's templates and decides whether Helm runs; see `releaseDigest` for which field belongs to which.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { z } from "zod";
import { pinSchema } from "../charts/pin.ts";
import { AppError, defineErrors, messageOf } from "../errors/app-error.ts";
import { canonicalJson, parseExact } from "../json/exact.ts";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export const contentErrors = defineErrors({
  CONTENT_INVALID: {
    retryable: false,
    help: "What the hub stored or sent for a deployment does not have the digest or the shape that it should have. It is not used; the hub makes it again when the Bundle is reconciled.",
  },
  CONTENT_TOO_LARGE: {
    retryable: false,
    help: "The options of a HelmOp are larger than the hub distributes. Move large values into the chart, or into a ConfigMap that the chart reads.",
  },
});

/** The largest content, before compression, in bytes. */
export const maxContentBytes = 8 * 1024 * 1024;

const helmRunSchema = z.object({
  /** Seconds that Helm waits for readiness; 0: it does not wait. */
  timeoutSeconds: z.number().int().min(0),
  atomic: z.boolean(),
  force: z.boolean(),
  takeOwnership: z.boolean(),
  waitForJobs: z.boolean(),
  disableDNS: z.boolean(),
  skipSchemaValidation: z.boolean(),
  maxHistory: z.number().int().min(0),
});

const accessSchema = z.object({
  insecureSkipVerify: z.boolean(),
});

export const deploymentContentSchema = z.object({
  /** Of this schema. An agent refuses one that it does not know. */
  format: z.literal(1),
  pin: pinSchema,
  releaseName: z.string(),
  namespace: z.string(),
  createNamespace: z.boolean(),
  /** The values given to Helm; absent: none. */
  values: z.record(z.string(), z.unknown()).optional(),
  helm: helmRunSchema,
  access: accessSchema,
  /** When withdrawn, only Helm's records go and what was installed stays. */
  keepResources: z.boolean(),
});

export type DeploymentContent = Readonly<z.infer<typeof deploymentContentSchema>>;

/** A content ready to be stored and sent. */
export interface PackedContent {
  /** `sha256:` and the hex digest of the canonical JSON. */
  readonly deploymentId: string;
  /** gzip of the canonical JSON. */
  readonly bytes: Uint8Array;
}

/** Packs a content. Throws CONTENT_TOO_LARGE. */
export async function packContent(content: DeploymentContent): Promise<PackedContent> {
  const json = Buffer.from(canonicalJson(content));
  if (json.length > maxContentBytes) {
    throw new AppError(
      contentErrors.CONTENT_TOO_LARGE,
      `the options for release ${content.namespace}/${content.releaseName} take ${json.length} bytes, more than the ${maxContentBytes} that are distributed`,
    );
  }
  return { deploymentId: digestOf(json), bytes: await zip(json, { level: 6 }) };
}

/** Opens a packed content, checking its digest and its shape. Throws CONTENT_INVALID. */
export async function unpackContent(packed: PackedContent): Promise<DeploymentContent> {
  let json: Buffer;
  try {
    json = await unzip(packed.bytes, { maxOutputLength: maxContentBytes });
  } catch (thrown) {
    throw invalid(packed.deploymentId, `it does not decompress: ${messageOf(thrown)}`, thrown);
  }
  const actual = digestOf(json);
  if (actual !== packed.deploymentId)
    throw invalid(packed.deploymentId, `its bytes have the digest ${actual}`);
  const parsed = deploymentContentSchema.safeParse(parse(packed.deploymentId, json.toString()));
  if (!parsed.success)
    throw invalid(packed.deploymentId, z.prettifyError(parsed.error), parsed.error);
  return parsed.data;
}

/**
 * Names what Helm would install, in 56 hex digits (a label value holds 63 characters). Equal digests mean that running
 * Helm again would change nothing; how long Helm waits, what it keeps and how charts are fetched is not part of it.
 */
export function releaseDigest(content: DeploymentContent): string {
  const { pin, releaseName, namespace, values } = content;
  return createHash("sha256")
    .update(canonicalJson({ pin, releaseName, namespace, values: values ?? {} }))
    .digest("hex")
    .slice(0, 56);
}

function parse(deploymentId: string, text: string): unknown {
  try {
    return parseExact(text);
  } catch (thrown) {
    throw invalid(deploymentId, `it is no JSON: ${messageOf(thrown)}`, thrown);
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function invalid(deploymentId: string, why: string, cause?: unknown): AppError {
  return new AppError(
    contentErrors.CONTENT_INVALID,
    `content ${deploymentId} cannot be used: ${why}`,
    { cause },
  );
}
