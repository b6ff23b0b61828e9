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

export function clusters(count: number): string {
  return count === 1 ? "1 cluster" : `${count} clusters`;
}

export function have(count: number): string {
  return count === 1 ? "has" : "have";
}

/** What a halt does, in numbers. */
export function haltText(rollout: BundleRollout): string {
  const { total, done, inFlight, left } = countsOf(rollout);
  return `halts ${rolloutText(rollout)}: ${done} of ${clusters(total)} ${have(done)} it, ${inFlight} in flight ${inFlight === 1 ? "ends" : "end"} by ${inFlight === 1 ? "itself" : "themselves"}, ${left} ${left === 1 ? "waits" : "wait"} until it is resumed`;
}

/** What a rollback does, in numbers. `promoted`: undefined where the deployments were not read. */
export function rollbackText(
  rollout: BundleRollout,
  promoted: PromotedClusters | undefined,
): string {
  const { total, promoted: most } = countsOf(rollout);
  const numbers =
    promoted === undefined
      ? `up to ${clusters(most)} get back what they had before; those that had nothing keep it`
      : `${clusters(promoted.upgraded)} ${promoted.upgraded === 1 ? "gets back what it" : "get back what they"} had before, ${promoted.installed} ${promoted.installed === 1 ? "keeps it, because it" : "keep it, because they"} had nothing`;
  const reached = promoted === undefined ? most : promoted.upgraded + promoted.installed;
  return `takes ${rolloutText(rollout)} back, within its limits and without gates: ${numbers}; ${Math.max(0, total - reached)} of ${total} were not changed by it`;
}
