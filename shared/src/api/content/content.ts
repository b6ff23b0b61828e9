/**
 * The content of a deployment: its immutable options in full, identified by their digest.
 *
 * A content is common to all clusters with the same options, so nothing in it may name a cluster. It has two digests. The
 * *deployment id* covers everything and decides what is sent to an agent. The *release digest* covers what reaches Helm's
 * templates and decides whether Helm runs; `releaseDigest` says which field belongs to which.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import {
  archiveDigest,
  isBuilt,
  type Pin,
  pinnedVersion,
  pinSchema,
} from "../../charts/source/index.ts";
import type { Values } from "../../charts/values/index.ts";
import { AppError, defineErrors, messageOf } from "../../runtime/errors/index.ts";
import { canonicalJson } from "../../text/json/index.ts";
import {
  type LabelSelector,
  labelSelectorSchema,
  objectRefSchema,
  sourceAccessSchema,
  type Typed,
} from "../fleet/index.ts";
import { releaseNamePattern } from "../fleet/names/index.ts";
import { driftSchema } from "./drift.ts";
import { PackedProblem, pack, unpack } from "./packed.ts";
import { commonMetadataSchema, postRenderersSchema } from "./post-renderers.ts";
import { releaseActionsSchema } from "./release-actions.ts";
import { type ReleaseParts, releaseParts } from "./release-parts.ts";

export const contentErrors = defineErrors({
  CONTENT_INVALID: {
    retryable: false,
    help: "A content that the hub stored or sent for a deployment has another digest or shape than expected, so it is not used. The hub creates it again when the Bundle is reconciled.",
  },
  CONTENT_TOO_LARGE: {
    retryable: false,
    help: "The options of a HelmOp exceed the size limit. Move large values into the chart, or into a ConfigMap that the chart reads.",
  },
});

/** The limit of a content before compression. */
export const maxContentBytes = 8 * 1024 * 1024;

const helmRunSchema = z.object({
  /** Seconds that Helm waits for readiness; 0: it does not wait. */
  timeoutSeconds: z.number().int().min(0),
  atomic: z.boolean(),
  force: z.boolean(),
  takeOwnership: z.boolean(),
  waitForJobs: z.boolean(),
  /** Whether DNS is disabled in templates; absent: a chart that uses it is rejected. */
  disableDNS: z.boolean().optional(),
  /** Whether templates that read the cluster are rejected; absent: only when the agent itself would read. */
  disableLookup: z.boolean().optional(),
  skipSchemaValidation: z.boolean(),
  maxHistory: z.number().int().min(0),
});

const accessSchema = z.object({
  /** Overrides what the Secret says; absent: the Secret decides. */
  insecureSkipVerify: z.boolean().optional(),
  /** The Secret of the workspace with the credentials for the chart's source; a referenced object. */
  secret: z.string().optional(),
  /** The repository or address of an archive that the credentials are for; absent without a Secret. A pin may be at another host. */
  repository: z.string().optional(),
  /** Certificate authorities in PEM, used when the Secret has none. */
  caBundle: z.string().optional(),
  /** Secrets in any namespace of the hub, in place of `secret`. */
  source: sourceAccessSchema.optional(),
  /** Access to the repositories that a Git repository includes, in their order. */
  included: z.array(sourceAccessSchema).optional(),
  /** Access to the repositories that the chart has dependencies from. */
  dependencies: z.array(sourceAccessSchema).optional(),
  /** The addresses of all of these, without credentials too; absent: the chart is not made from a directory, or an earlier hub wrote it. */
  repositories: z.array(z.string()).optional(),
});

/** A key of a ConfigMap or Secret of the cluster with more values. */
const valuesSourceSchema = z.object({
  kind: z.enum(["ConfigMap", "Secret"]),
  name: z.string(),
  /** Absent: the namespace of the release. */
  namespace: z.string().optional(),
  key: z.string(),
});

const textsSchema = z.record(z.string(), z.string());

/** A key of an object of the hub with values. */
const hubValuesSchema = z.object({
  kind: z.enum(["ConfigMap", "Secret"]),
  /** `NAMESPACE/NAME` on the hub. */
  name: z.string(),
  key: z.string(),
  /** In the grammar of Helm's `--set`; absent: it is a values file. */
  targetPath: z.string().optional(),
  optional: z.boolean().optional(),
  /** The value is put there without parsing it. */
  literal: z.boolean().optional(),
  /**
   * The object as it was when the content was made, with this key alone: its values belong to the content. Absent: the hub sends it as a
   * referenced object, and its newest version counts.
   */
  object: z.object({ data: textsSchema.optional(), binaryData: textsSchema.optional() }).optional(),
  /** With `object`: the hub's HMAC over it. The digest of the content is not secret, and a value in it must not be guessed by that. */
  salt: z.string().optional(),
});

export type HubValuesSource = Readonly<z.infer<typeof hubValuesSchema>>;

/** A Bundle, or all Bundles that a selector matches, that must be deployed in the cluster first. */
const dependencySchema = z.object({
  name: z.string().optional(),
  selector: labelSelectorSchema.optional(),
  /** Absent: Ready. */
  acceptedStates: z.array(z.string()).optional(),
  /** In CEL, in place of the accepted states. */
  readyExpr: z.string().optional(),
});

/** For the objects of a group, or of a kind of it; in CEL. */
const healthCheckSchema = z.object({
  group: z.string(),
  kind: z.string().optional(),
  inProgress: z.string().optional(),
  failed: z.string().optional(),
  current: z.string(),
});

export type HealthCheck = Readonly<z.infer<typeof healthCheckSchema>>;

export type Dependency = Typed<typeof dependencySchema>;

export type ValuesSource = Readonly<z.infer<typeof valuesSourceSchema>>;

export const deploymentContentSchema = z.object({
  /** The version of this schema, see `contentFormat`. An agent rejects an unknown one. */
  format: z.union([z.literal(1), z.literal(2)], {
    error: "this agent does not know all of its options: upgrade the agent to the hub's version",
  }),
  pin: pinSchema,
  /** An argument of Helm, which takes one that begins with "-" for an option. */
  releaseName: z.string().regex(releaseNamePattern),
  namespace: z.string(),
  createNamespace: z.boolean(),
  /** The values as written; absent: none. */
  values: z.record(z.string(), z.unknown()).optional(),
  /** Templates by the name of the value that they render; they take precedence over `values`. */
  templateValues: z.record(z.string(), z.string()).optional(),
  /** Whether texts in `values` with `${ }` are templates. */
  valuesAreTemplates: z.boolean(),
  /** Later ones take precedence over earlier ones and over `values` and `templateValues`. */
  valuesFrom: z.array(valuesSourceSchema).optional(),
  /**
   * Values files in this order under `values`, and values at their paths over everything. Not together with `valuesFrom`.
   */
  hubValues: z.array(hubValuesSchema).optional(),
  /** The namespace with Helm's records of the release before it was adopted; they are copied once. */
  recordsNamespace: z.string().optional(),
  /** The referenced objects that are copied into the namespace of the release. */
  copies: z.array(objectRefSchema).optional(),
  /**
   * The ServiceAccount to impersonate: a name, NAMESPACE/NAME, or `system:serviceaccount:NAMESPACE:NAME` where the hub itself
   * decided on it; absent: `fleet-default` where it exists, else the agent itself.
   */
  serviceAccount: z.string().optional(),
  namespaceLabels: z.record(z.string(), z.string()).optional(),
  namespaceAnnotations: z.record(z.string(), z.string()).optional(),
  /** The labels of the Bundle, for selectors of `dependsOn`. */
  labels: z.record(z.string(), z.string()).optional(),
  /** Conditions with all fields of one of them do not make an object unready. */
  ignoredConditions: z.array(z.record(z.string(), z.string())).optional(),
  dependsOn: z.array(dependencySchema).optional(),
  helm: helmRunSchema,
  /** They take precedence over `helm`. */
  actions: releaseActionsSchema.optional(),
  /** Change the rendered objects, hooks included, in this order. */
  postRenderers: postRenderersSchema.optional(),
  /** Labels and annotations of all rendered objects, hooks included; applied last. */
  commonMetadata: commonMetadataSchema.optional(),
  /**
   * Labels of `commonMetadata` that no user has asked for: they name the HelmRelease, and are set on no object, because that would change
   * how Helm reads the chart. They stay in `commonMetadata` for the release digest of what earlier versions have installed, and
   * for agents that do not know this field, which set them.
   */
  originLabels: z.array(z.string()).optional(),
  /** They decide whether objects are ready, in place of the rules for their kinds. */
  healthCheckExprs: z.array(healthCheckSchema).optional(),
  /** Absent: drift is reported. Agents that do not know the field do not detect drift at all, so they may ignore it. */
  drift: driftSchema.optional(),
  access: accessSchema,
  /** A withdrawal deletes Helm's release records only, and keeps the installed objects. */
  keepResources: z.boolean(),
  /** Whether CustomResourceDefinitions are deleted with their release; absent: they are kept. */
  deleteCRDResources: z.boolean().optional(),
  /** The namespace is deleted with the release, if the agent created it and nothing else is in it. */
  deleteNamespace: z.boolean().optional(),
  /** The namespace of the release must have labels that it matches. */
  allowedNamespaces: labelSelectorSchema.optional(),
  /** A number that users change to run Helm again. */
  forceSyncGeneration: z.number().int().optional(),
});

type ParsedContent = Readonly<z.infer<typeof deploymentContentSchema>>;

export interface DeploymentContent
  extends Omit<ParsedContent, "pin" | "dependsOn" | "allowedNamespaces"> {
  readonly pin: Pin;
  readonly dependsOn?: readonly Dependency[] | undefined;
  readonly allowedNamespaces?: LabelSelector | undefined;
}

/** Fields that agents before 0.3.0 do not know. They must not ignore them: some protect what runs. */
const fieldsOfFormat2: readonly (keyof DeploymentContent)[] = [
  "actions",
  "postRenderers",
  "commonMetadata",
  "allowedNamespaces",
  "healthCheckExprs",
  "hubValues",
  "recordsNamespace",
];

/** The oldest format that has all fields of the content, so that older agents reject only what they cannot do. */
export function contentFormat(
  content: Omit<DeploymentContent, "format">,
): DeploymentContent["format"] {
  const fields: Partial<DeploymentContent> = content;
  const isSourceNew = content.access.source !== undefined || isBuilt(content.pin);
  const hasExpression = content.dependsOn?.some(({ readyExpr }) => readyExpr !== undefined);
  return isSourceNew ||
    hasExpression ||
    fieldsOfFormat2.some((field) => fields[field] !== undefined)
    ? 2
    : 1;
}

/** A content as it is stored and sent. */
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
      `the options of release ${content.namespace}/${content.releaseName} have ${size} bytes; the limit is ${maxContentBytes}`,
    );
  });
  return { deploymentId: digest, bytes };
}

/** Unpacks a content and checks its digest and shape. Throws CONTENT_INVALID. */
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
      `invalid content ${packed.deploymentId}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** The parts of a release that differ between clusters with the same content. */
export interface ReleaseInputs {
  /** The final values: rendered, and merged with `valuesFrom`. */
  readonly values?: Values | undefined;
  /** The downstream resources, so that a change of them upgrades the release. */
  readonly copies?: readonly unknown[] | undefined;
}

/**
 * Identifies what Helm would install, in 56 hex digits (a label value has at most 63 characters). With an equal digest, running
 * Helm again would change nothing. It does not cover how long Helm waits, what it keeps and how charts are fetched.
 */
export function releaseDigest(content: DeploymentContent, inputs: ReleaseInputs): string {
  const { pin, releaseName, namespace, forceSyncGeneration, postRenderers, commonMetadata } =
    content;
  const { values = {}, copies = [] } = inputs;
  return createHash("sha256")
    .update(
      canonicalJson({
        chart: chartIdentity(pin),
        releaseName,
        namespace,
        values,
        ...(copies.length > 0 && { copies }),
        // Only when they are set, so that an absent one does not change the digest.
        ...(forceSyncGeneration !== undefined && { forceSyncGeneration }),
        ...(postRenderers !== undefined && { postRenderers }),
        ...(commonMetadata !== undefined && { commonMetadata }),
      }),
    )
    .digest("hex")
    .slice(0, 56);
}

/** The parts of a release digest, which are only compared with the parts of another revision. */
export function releasePartsOf(content: DeploymentContent, inputs: ReleaseInputs): ReleaseParts {
  const { pin, forceSyncGeneration, postRenderers, commonMetadata } = content;
  const { values = {}, copies = [] } = inputs;
  return releaseParts({
    chart: chartIdentity(pin),
    values,
    postRenderers,
    commonMetadata,
    forceSyncGeneration,
    copies: copies.length > 0 ? copies : undefined,
  });
}

/**
 * Equal for the same archive at any address; an archive without a digest is identified by its address, and a chart that the
 * agent makes by what it is made from.
 */
function chartIdentity(pin: Pin): unknown {
  const digest = isBuilt(pin) ? undefined : archiveDigest(pin);
  return digest === undefined ? pin : [pinnedVersion(pin), digest];
}
