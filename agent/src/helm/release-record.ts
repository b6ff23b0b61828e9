/** Helm's storage: one Secret for each revision of a release. Pure. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import type { DeploymentKey } from "@flotilla/proto";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { canonicalJson, parseExact } from "@flotilla/shared/json";
import type { Secret } from "@flotilla/shared/kube/objects";
import { z } from "zod";
import { agentErrors } from "../errors/index.ts";
import type { InventoryReader, InventoryRevision } from "../inventory/index.ts";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Selects all of Helm's release Secrets. */
export const helmOwnerSelector = "owner=helm";

/** Set with `--labels`, so that the agent observes the installed release after a crash. */
export const releaseLabels = {
  deployment: "flotilla.dev/deployment",
  uid: "flotilla.dev/uid",
  digest: "flotilla.dev/release-digest",
  /** What its values were rendered from; see ReleaseInputs. */
  origin: "flotilla.dev/values-origin",
  /** Of the archive, as `chartDigestLabel` formats it. */
  chartDigest: "flotilla.dev/chart-digest",
  /** The revision that the agent created. On a manual rollback or upgrade Helm copies the label, and it differs. */
  revision: "flotilla.dev/revision",
} as const;

/** Where a release is. */
export interface ReleaseKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * A revision of a release. Name, revision, status and time are from the labels of its Secret; what the agent knows of it is
 * from the inventory.
 */
export interface ReleaseRecord {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** Helm's status: `deployed`, `failed`, `superseded`, `pending-upgrade` and so on. */
  readonly status: string;
  /** The deployment of the release; absent for a release that was installed manually. */
  readonly owner?: DeploymentKey;
  readonly digest?: string;
  /** Digest of what its values were rendered from; absent if they were not rendered. */
  readonly origin?: string;
  /** `sha256:` and hex, of the chart archive. */
  readonly chartDigest?: string;
  /** The agent created this revision. */
  readonly isOwn: boolean;
  /** The deployment that the labels name as the one that this revision was created for. Tenants can write it. */
  readonly labelled?: DeploymentKey;
  /** Differs after every change of the Secret; absent before the watch delivers it. */
  readonly version?: string;
  /** Time of the last status change, ms since 1970. */
  readonly modifiedAtMs: number;
}

/** Undefined for any other Secret. */
export function recordOf(secret: Secret): ReleaseRecord | undefined {
  const labels = secret.metadata.labels ?? {};
  const { name, version, status, modifiedAt, createdAt } = labels;
  const revision = Number(version);
  if (
    labels["owner"] !== "helm" ||
    name === undefined ||
    status === undefined ||
    !Number.isInteger(revision)
  )
    return undefined;
  const deployment = labels[releaseLabels.deployment];
  const uid = labels[releaseLabels.uid];
  const digest = labels[releaseLabels.digest];
  const origin = labels[releaseLabels.origin];
  const chartDigest = chartDigestOf(labels[releaseLabels.chartDigest]);
  return {
    namespace: secret.metadata.namespace ?? "",
    name,
    revision,
    status,
    ...(deployment !== undefined && uid !== undefined && { owner: { name: deployment, uid } }),
    ...(digest !== undefined && { digest }),
    ...(origin !== undefined && { origin }),
    ...(chartDigest !== undefined && { chartDigest }),
    isOwn: labels[releaseLabels.revision] === version,
    ...(secret.metadata.resourceVersion !== undefined && {
      version: secret.metadata.resourceVersion,
    }),
    modifiedAtMs: Number(modifiedAt ?? createdAt ?? 0) * 1000,
  };
}

/** A record with what the inventory knows of its release, in place of what its labels say. */
export function knownRecord(record: ReleaseRecord, inventory: InventoryReader): ReleaseRecord {
  const { owner: labelled, digest: _, origin: __, chartDigest: ___, isOwn, ...rest } = record;
  const owner = inventory.ownerOf(record);
  const known = inventory.revisionOf(record, record.revision);
  return {
    ...rest,
    ...(owner !== undefined && { owner }),
    ...(known?.digest !== undefined && { digest: known.digest }),
    ...(known?.origin !== undefined && { origin: known.origin }),
    ...(known?.chartDigest !== undefined && { chartDigest: known.chartDigest }),
    isOwn: known?.digest !== undefined,
    ...(isOwn && labelled !== undefined && { labelled }),
  };
}

/** A Helm process changes the release, or was killed while it did. */
export function isLocked({ status }: Pick<ReleaseRecord, "status">): boolean {
  return status.startsWith("pending-");
}

/** A digest as a label value, which has at most 63 characters: in hex it is one too long. */
export function chartDigestLabel(digest: string): string {
  const hex = digest.slice("sha256:".length);
  // The last base64url character of 32 bytes is always alphanumeric, as a label value requires.
  return `sha256-${Buffer.from(hex, "hex").toString("base64url")}`;
}

function chartDigestOf(label: string | undefined): string | undefined {
  if (label?.startsWith("sha256-") !== true) return undefined;
  const bytes = Buffer.from(label.slice("sha256-".length), "base64url");
  return bytes.length === 32 ? `sha256:${bytes.toString("hex")}` : undefined;
}

export function recordSecretName({
  name,
  revision,
}: Pick<ReleaseRecord, "name" | "revision">): string {
  return `sh.helm.release.v1.${name}.v${revision}`;
}

const releaseSchema = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  version: z.number().int(),
  manifest: z.string().default(""),
  hooks: z.array(z.looseObject({})).nullish(),
  info: z.looseObject({ status: z.string() }),
  chart: z
    .looseObject({
      metadata: z
        .looseObject({ version: z.string().default(""), appVersion: z.string().default("") })
        .optional(),
    })
    .optional(),
});

/** What the inventory keeps of a revision, if its labels say that the agent created it; undefined if it cannot be read. */
export async function readLabelledRecord(secret: Secret): Promise<InventoryRevision | undefined> {
  const record = recordOf(secret);
  if (record === undefined) return undefined;
  const what = `release Secret ${record.namespace}/${secret.metadata.name}`;
  try {
    const release = parseRelease(await decodeRecord(secret), what);
    const { digest, origin, chartDigest, revision } = record;
    return {
      revision,
      content: contentDigest(release),
      ...(record.isOwn && {
        ...(digest !== undefined && { digest }),
        ...(origin !== undefined && { origin }),
        ...(chartDigest !== undefined && { chartDigest }),
      }),
    };
  } catch (thrown) {
    if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
    return undefined;
  }
}

/** A release with its manifest. */
export interface HelmRelease {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly status: string;
  readonly manifest: string;
  /** Canonical JSON of its hooks, without the results of their last runs. */
  readonly hooks: string;
  readonly chartVersion: string;
  readonly appVersion: string;
}

/** The release that Helm printed with `-o json`. Throws RELEASE_UNREADABLE. */
export function parseRelease(json: string, what: string): HelmRelease {
  let parsed: z.infer<typeof releaseSchema>;
  try {
    parsed = releaseSchema.parse(JSON.parse(json));
  } catch (thrown) {
    throw new AppError(agentErrors.RELEASE_UNREADABLE, `read ${what}: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  return {
    namespace: parsed.namespace,
    name: parsed.name,
    revision: parsed.version,
    status: parsed.info.status,
    manifest: parsed.manifest,
    hooks: canonicalJson((parsed.hooks ?? []).map(({ last_run: _, ...hook }) => hook)),
    chartVersion: parsed.chart?.metadata?.version ?? "",
    appVersion: parsed.chart?.metadata?.appVersion ?? "",
  };
}

/** Identifies what Helm would apply, delete and run for a revision. Its status and its values are not covered. */
export function contentDigest(release: Pick<HelmRelease, "manifest" | "hooks">): string {
  return `${sha256(release.manifest)}.${sha256(release.hooks)}`;
}

/** Whether a content digest is that of a release with the same manifest, with any hooks. */
export function hasManifestOf(
  digest: string,
  { manifest }: Pick<HelmRelease, "manifest">,
): boolean {
  return digest.startsWith(`${sha256(manifest)}.`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A Secret of a megabyte can decompress to a thousand times as much. */
const maxRecordBytes = 64 * 1024 * 1024;

/** The release in a Secret: JSON, gzip, base64, and base64 again as in every Secret. Throws RELEASE_UNREADABLE. */
export async function decodeRecord(secret: Secret): Promise<string> {
  const what = `release Secret ${secret.metadata.namespace ?? ""}/${secret.metadata.name}`;
  try {
    const inner = Buffer.from(secret.data?.["release"] ?? "", "base64").toString();
    const json = await unzip(Buffer.from(inner, "base64"), { maxOutputLength: maxRecordBytes });
    return json.toString();
  } catch (thrown) {
    throw new AppError(agentErrors.RELEASE_UNREADABLE, `read ${what}: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

const storedSchema = z.looseObject({ info: z.looseObject({}).optional() });

/** The Secret with status `failed`, as Helm would have written it had it not been killed. */
export async function failedRecord(secret: Secret, why: string): Promise<Secret> {
  // JSON.parse would round some numbers in the values.
  const release = storedSchema.parse(parseExact(await decodeRecord(secret)));
  const info = { ...release.info, status: "failed", description: why };
  return {
    ...(await withRelease(secret, { ...release, info })),
    metadata: { ...secret.metadata, labels: { ...secret.metadata.labels, status: "failed" } },
  };
}

/** The Secret with another manifest. */
export async function rewrittenRecord(secret: Secret, manifest: string): Promise<Secret> {
  const release = storedSchema.parse(parseExact(await decodeRecord(secret)));
  return await withRelease(secret, { ...release, manifest });
}

async function withRelease(secret: Secret, release: unknown): Promise<Secret> {
  // As small as Helm writes it: some charts barely fit into a Secret.
  const packed = await zip(canonicalJson(release), { level: constants.Z_BEST_COMPRESSION });
  const inner = packed.toString("base64");
  return {
    ...secret,
    data: { ...secret.data, release: Buffer.from(inner).toString("base64") },
  };
}
