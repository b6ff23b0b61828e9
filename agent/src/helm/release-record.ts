/** Helm's own records: one Secret for each revision of a release. Pure. */
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import type { DeploymentKey } from "@flotilla/proto/messages.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { canonicalJson, parseExact } from "@flotilla/shared/json/exact.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { z } from "zod";
import { agentErrors } from "../errors.ts";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** On every record that Helm keeps in Secrets. */
export const helmOwnerSelector = "owner=helm";

/** Put on our releases with `--labels`, so that after any crash it is known what is installed. */
export const releaseLabels = {
  deployment: "flotilla.dev/deployment",
  uid: "flotilla.dev/uid",
  digest: "flotilla.dev/release-digest",
  /** What its values were rendered from; see Gathered. */
  origin: "flotilla.dev/values-origin",
  /** Of the archive, as `chartDigestLabel` writes it. */
  chartDigest: "flotilla.dev/chart-digest",
  /** The revision that we made. Helm copies labels on a rollback or upgrade by hand, and then it is another. */
  revision: "flotilla.dev/revision",
} as const;

/** What the labels of a record say. */
export interface ReleaseRecord {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** Helm's: `deployed`, `failed`, `superseded`, `pending-upgrade` and so on. */
  readonly status: string;
  /** Whose release it is; absent for one that somebody made by hand. */
  readonly owner?: DeploymentKey;
  readonly digest?: string;
  /** By digest, what its values were rendered from; absent where nothing was. */
  readonly origin?: string;
  /** `sha256:` and hex, of the chart archive. */
  readonly chartDigest?: string;
  /** Whether we made this very revision. */
  readonly isOurs: boolean;
  /** When its status changed last, ms since 1970. */
  readonly modifiedAtMs: number;
}

/** Undefined for a Secret that is no record of Helm. */
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
    isOurs: labels[releaseLabels.revision] === version,
    modifiedAtMs: Number(modifiedAt ?? createdAt ?? 0) * 1000,
  };
}

/** Whether a run of Helm has the release, or had it and was cut off. */
export function isLocked({ status }: Pick<ReleaseRecord, "status">): boolean {
  return status.startsWith("pending-");
}

/** A digest as a label can hold it: in hex it would be a character too long. */
export function chartDigestLabel(digest: string): string {
  const hex = digest.slice("sha256:".length);
  // Ends in a letter or a digit, as a label must: the last character of 32 bytes is never one of the other two.
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
  info: z.looseObject({ status: z.string() }),
  chart: z
    .looseObject({
      metadata: z
        .looseObject({ version: z.string().default(""), appVersion: z.string().default("") })
        .optional(),
    })
    .optional(),
});

/** What of a release is looked at beyond its labels. */
export interface HelmRelease {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly status: string;
  readonly manifest: string;
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
    chartVersion: parsed.chart?.metadata?.version ?? "",
    appVersion: parsed.chart?.metadata?.appVersion ?? "",
  };
}

/** As much as is read of what Helm prints of a release. A Secret of a megabyte can unpack to a thousand times as much. */
const maxRecordBytes = 64 * 1024 * 1024;

/** The release that a record holds: JSON, gzip, base64, and base64 once more as every Secret. */
export async function decodeRecord(secret: Secret): Promise<string> {
  const what = `Helm's record ${secret.metadata.namespace ?? ""}/${secret.metadata.name}`;
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

/** The same record as a failed one: what Helm itself would have written had it not been killed. */
export async function failedRecord(secret: Secret, why: string): Promise<Secret> {
  // Values may hold numbers that JavaScript's own would spoil.
  const release = storedSchema.parse(parseExact(await decodeRecord(secret)));
  const info = { ...release.info, status: "failed", description: why };
  return {
    ...(await withRelease(secret, { ...release, info })),
    metadata: { ...secret.metadata, labels: { ...secret.metadata.labels, status: "failed" } },
  };
}

/** The same record with another manifest. */
export async function rewrittenRecord(secret: Secret, manifest: string): Promise<Secret> {
  const release = storedSchema.parse(parseExact(await decodeRecord(secret)));
  return await withRelease(secret, { ...release, manifest });
}

async function withRelease(secret: Secret, release: unknown): Promise<Secret> {
  // As small as Helm makes it: some charts just about fit into a Secret.
  const packed = await zip(canonicalJson(release), { level: constants.Z_BEST_COMPRESSION });
  const inner = packed.toString("base64");
  return {
    ...secret,
    data: { ...secret.data, release: Buffer.from(inner).toString("base64") },
  };
}
