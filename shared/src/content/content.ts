/**
 * What one deployment is to be, in full: the piece that hub and agent agree on by its digest.
 *
 * A content is common to all clusters that get the same, so nothing in it may name a cluster. Two digests are taken
 * of it. The *deployment id* covers everything and decides what is sent to an agent. The *release digest* covers what
 * reaches Helm's templates and decides whether Helm runs; see `releaseDigest` for which field belongs to which.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { objectRefSchema } from "../api/bundle-deployment.ts";
import type { Typed } from "../api/field.ts";
import { labelSelectorSchema } from "../api/label-selector.ts";
import { AppError, defineErrors, messageOf } from "../errors/app-error.ts";
import { canonicalJson } from "../json/exact.ts";
import { archiveDigest, type Pin, pinSchema } from "../source/pin.ts";
import type { Values } from "../values/merge-values.ts";
import { PackedProblem, pack, unpack } from "./packed.ts";

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
  /** Whether templates find no addresses of names; absent: nobody has said so, and one that asks for them is refused. */
  disableDNS: z.boolean().optional(),
  /** Whether templates that read the cluster are refused; absent: where the agent itself would read it. */
  disableLookup: z.boolean().optional(),
  skipSchemaValidation: z.boolean(),
  maxHistory: z.number().int().min(0),
});

const accessSchema = z.object({
  /** Overrides what the Secret says of it; absent: the Secret's own. */
  insecureSkipVerify: z.boolean().optional(),
  /** The workspace's Secret with the credentials for the chart's source, which the hub supplies. */
  secret: z.string().optional(),
  /** The repository, or the archive's address, that its credentials are for; absent without one. A pin may be elsewhere. */
  repository: z.string().optional(),
  /** Authorities that are trusted where the Secret names none, as PEM. */
  caBundle: z.string().optional(),
});

/** A key of a ConfigMap or Secret of the cluster whose text is more values. */
const valuesSourceSchema = z.object({
  kind: z.enum(["ConfigMap", "Secret"]),
  name: z.string(),
  /** Absent: the release's own, also for what is copied there. */
  namespace: z.string().optional(),
  key: z.string(),
});

/** A Bundle, or all those with some labels, that must be deployed in the cluster before. */
const dependencySchema = z.object({
  name: z.string().optional(),
  selector: labelSelectorSchema.optional(),
  /** States that are good enough; absent: Ready. */
  acceptedStates: z.array(z.string()).optional(),
});

export type Dependency = Typed<typeof dependencySchema>;

export type ValuesSource = Readonly<z.infer<typeof valuesSourceSchema>>;

export const deploymentContentSchema = z.object({
  /** Of this schema. An agent refuses one that it does not know. */
  format: z.literal(1),
  pin: pinSchema,
  releaseName: z.string(),
  namespace: z.string(),
  createNamespace: z.boolean(),
  /** The values as they were written; absent: none. */
  values: z.record(z.string(), z.unknown()).optional(),
  /** Templates by the name of the value that each of them gives; they win over `values`. None where those are none. */
  templateValues: z.record(z.string(), z.string()).optional(),
  /** Whether texts in `values` that hold `${ }` are templates. */
  valuesAreTemplates: z.boolean(),
  /** Later ones win over earlier ones and over what comes of `values` and `templateValues`. */
  valuesFrom: z.array(valuesSourceSchema).optional(),
  /** What the hub supplies to be copied into the release's namespace. */
  copies: z.array(objectRefSchema).optional(),
  /** As whom everything is done; absent: `fleet-default` where it exists, else the agent itself. */
  serviceAccount: z.string().optional(),
  namespaceLabels: z.record(z.string(), z.string()).optional(),
  namespaceAnnotations: z.record(z.string(), z.string()).optional(),
  /** Of the Bundle, for those that depend on it. */
  labels: z.record(z.string(), z.string()).optional(),
  dependsOn: z.array(dependencySchema).optional(),
  helm: helmRunSchema,
  access: accessSchema,
  /** When withdrawn, only Helm's records go and what was installed stays. */
  keepResources: z.boolean(),
  /** Whether CustomResourceDefinitions go with their release; absent: they stay. */
  deleteCRDResources: z.boolean().optional(),
  /** A number that people change to have Helm run once more; absent: nobody has. */
  forceSyncGeneration: z.number().int().optional(),
});

type OpenedContent = Readonly<z.infer<typeof deploymentContentSchema>>;

export interface DeploymentContent extends Omit<OpenedContent, "dependsOn"> {
  readonly dependsOn?: readonly Dependency[] | undefined;
}

/** A content ready to be stored and sent. */
export interface PackedContent {
  /** `sha256:` and the hex digest of the canonical JSON. */
  readonly deploymentId: string;
  /** gzip of the canonical JSON. */
  readonly bytes: Uint8Array;
}

/** Packs a content. Throws CONTENT_TOO_LARGE. */
export async function packContent(content: DeploymentContent): Promise<PackedContent> {
  const { digest, bytes } = await pack(content, (size) => {
    if (size <= maxContentBytes) return;
    throw new AppError(
      contentErrors.CONTENT_TOO_LARGE,
      `the options for release ${content.namespace}/${content.releaseName} take ${size} bytes, more than the ${maxContentBytes} that are distributed`,
    );
  });
  return { deploymentId: digest, bytes };
}

/** Opens a packed content, checking its digest and its shape. Throws CONTENT_INVALID. */
export async function unpackContent(packed: PackedContent): Promise<DeploymentContent> {
  try {
    return await unpack(
      { digest: packed.deploymentId, bytes: packed.bytes },
      deploymentContentSchema,
      maxContentBytes,
    );
  } catch (thrown) {
    if (!(thrown instanceof PackedProblem)) throw thrown;
    throw new AppError(
      contentErrors.CONTENT_INVALID,
      `content ${packed.deploymentId} cannot be used: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** What a content came to in one cluster. */
export interface ReleaseInputs {
  /** Rendered, and with those of other objects over them. */
  readonly values?: Values | undefined;
  /** What is copied beside the release, which is to notice when that changes. */
  readonly copies?: readonly unknown[] | undefined;
}

/**
 * Names what Helm would install, in 56 hex digits (a label value holds 63 characters). Equal digests mean that running
 * Helm again would change nothing; how long Helm waits, what it keeps and how charts are fetched is not part of it.
 */
export function releaseDigest(content: DeploymentContent, inputs: ReleaseInputs): string {
  const { pin, releaseName, namespace, forceSyncGeneration } = content;
  const { values = {}, copies = [] } = inputs;
  return createHash("sha256")
    .update(
      canonicalJson({
        chart: chartIdentity(pin),
        releaseName,
        namespace,
        values,
        ...(copies.length > 0 && { copies }),
        // Only where it is set, so that releases from before it was known stay as they are.
        ...(forceSyncGeneration !== undefined && { forceSyncGeneration }),
      }),
    )
    .digest("hex")
    .slice(0, 56);
}

/** The same for the same archive, wherever it comes from; one without a digest is known by where it comes from alone. */
function chartIdentity(pin: Pin): unknown {
  const digest = archiveDigest(pin);
  return digest === undefined || pin.kind === "tarball" ? pin : [pin.version, digest];
}
