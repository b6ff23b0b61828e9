/** A rollout in the words and numbers of sentences. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api";
import { type BundleRollout, maxNamed, type StageStatus } from "@flotilla/shared/api/rollout";

/** `rollout web-7 (version 1.4.2)`. */
export function rolloutText({ metadata, spec }: BundleRollout): string {
  return `rollout ${metadata.name}${spec.version === undefined ? "" : ` (version ${spec.version})`}`;
}

interface Numbers {
  readonly total: number;
  readonly done: number;
  readonly inFlight: number;
  readonly failed: number;
  /** They have the revision, whatever came of it. */
  readonly promoted: number;
  /** They do not have it. */
  readonly left: number;
}

export function countsOf({ status }: BundleRollout): Numbers {
  const { total = 0, done = 0, inFlight = 0, failed = 0 } = status?.clusters ?? {};
  const promoted = done + inFlight + failed;
  return { total, done, inFlight, failed, promoted, left: Math.max(0, total - promoted) };
}

export function stageNamed({ status }: BundleRollout, name: string): StageStatus | undefined {
  return status?.stages?.find((stage) => stage.name === name);
}

/** The first clusters that have failed, at most ten. */
export function failedNames({ status }: BundleRollout): readonly string[] {
  return (status?.stages ?? [])
    .flatMap(({ failing }) => failing ?? [])
    .map(({ cluster }) => cluster)
    .slice(0, maxNamed);
}

/** What the clusters have that a rollout promoted. */
export interface PromotedClusters {
  /** They had something before, which a rollback gives back. */
  readonly upgraded: number;
  /** They had nothing, and keep the revision. */
  readonly installed: number;
}

/** What a rollback would do with the clusters that have the revision by this rollout. */
export function promotedClusters(
  deployments: readonly BundleDeployment[],
  { metadata, spec }: BundleRollout,
): PromotedClusters {
  const pinned = new Set(spec.targets.map(({ deploymentID }) => deploymentID));
  const own = deployments.filter(
    (deployment) =>
      deployment.metadata.deletionTimestamp === undefined &&
      deployment.spec.promotion?.rollout === metadata.name &&
      pinned.has(deployment.spec.deploymentID),
  );
  const installed = own.filter((deployment) => deployment.spec.promotion?.from === "").length;
  const unchanged = own.filter(
    (deployment) => deployment.spec.promotion?.from === deployment.spec.deploymentID,
  ).length;
  return { upgraded: own.length - installed - unchanged, installed };
}
