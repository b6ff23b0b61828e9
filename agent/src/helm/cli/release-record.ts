/** Helm's storage: one Secret for each revision of a release. Pure. */
import type { DeploymentKey } from "@flotilla/proto";
import { AppError } from "@flotilla/shared/errors";
import type { Secret } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../../base/errors/index.ts";
import type { InventoryReader, InventoryRevision, OwnerKey } from "../../state/index.ts";
import type { ReadRecords } from "../record/read-records.ts";

/** Selects all of Helm's release Secrets. */
export const helmOwnerSelector = "owner=helm";

/** Set with `--labels`, so that the agent observes the installed release after a crash. */
export const releaseLabels = {
  deployment: "flotilla.dev/deployment",
  uid: "flotilla.dev/uid",
  digest: "flotilla.dev/release-digest",
  /** What its values were rendered from; see ReleaseInputs. */
  origin: "flotilla.dev/values-origin",
  /** The digest of the archive, as `chartDigestLabel` formats it. */
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
  /** Whose the release is, by the inventory; absent for a release that was installed manually. */
  readonly owner?: OwnerKey;
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
  const isOwn = labels[releaseLabels.revision] === version;
  return {
    namespace: secret.metadata.namespace ?? "",
    name,
    revision,
    status,
    ...(digest !== undefined && { digest }),
    ...(origin !== undefined && { origin }),
    ...(chartDigest !== undefined && { chartDigest }),
    isOwn,
    ...(isOwn &&
      deployment !== undefined &&
      uid !== undefined && { labelled: { name: deployment, uid } }),
    ...(secret.metadata.resourceVersion !== undefined && {
      version: secret.metadata.resourceVersion,
    }),
    modifiedAtMs: Number(modifiedAt ?? createdAt ?? 0) * 1000,
  };
}

/** A record with what the inventory knows of its release, in place of what its labels say. */
export function knownRecord(record: ReleaseRecord, inventory: InventoryReader): ReleaseRecord {
  const { owner: _, digest: __, origin: ___, chartDigest: ____, ...rest } = record;
  const owner = inventory.ownerOf(record);
  const known = inventory.revisionOf(record, record.revision);
  return {
    ...rest,
    ...(owner !== undefined && { owner }),
    ...(known?.digest !== undefined && { digest: known.digest }),
    ...(known?.origin !== undefined && { origin: known.origin }),
    ...(known?.chartDigest !== undefined && { chartDigest: known.chartDigest }),
    isOwn: known?.digest !== undefined,
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

/** For messages. */
export function secretText(secret: Secret): string {
  return `release Secret ${secret.metadata.namespace ?? ""}/${secret.metadata.name}`;
}

/** What Helm has stored in the Secret of a revision. */
export function storedValue(secret: Secret): string {
  return secret.data?.["release"] ?? "";
}

/**
 * What the inventory keeps of a revision, if its labels say that the agent created it; undefined if it cannot be read. Throws
 * LIMIT_EXCEEDED.
 */
export async function readLabelledRecord(
  secret: Secret,
  read: Pick<ReadRecords, "stored">,
): Promise<InventoryRevision | undefined> {
  const record = recordOf(secret);
  if (record === undefined) return undefined;
  try {
    const { content } = await read.stored(storedValue(secret), secretText(secret));
    const { digest, origin, chartDigest, revision } = record;
    return {
      revision,
      content,
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

/** The Secret of a changed release: `value` is its new one, and `status` the new one of its labels, if that changes. */
export function changedSecret(secret: Secret, value: string, status?: string): Secret {
  const { metadata } = secret;
  return {
    ...secret,
    data: { ...secret.data, release: value },
    ...(status !== undefined && {
      metadata: { ...metadata, labels: { ...metadata.labels, status } },
    }),
  };
}
