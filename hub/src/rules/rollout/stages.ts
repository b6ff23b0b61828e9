/**
 * The stages of a rollout: which clusters each of them takes, and the numbers of its limits. A cluster belongs to the first stage that
 * matches it. Pure; everything is computed from the clusters that there are now.
 */
import type { RolloutStage, RolloutStrategy } from "@flotilla/shared/api";
import { isGiven, matchesAny, type TargetCluster, type TargetGroup } from "../targeting/match.ts";
import { limitOf } from "./limit.ts";

/** A cluster of a rollout, as stages see it. */
export interface StagedCluster extends TargetCluster {
  /** `namespace/name` of the Cluster. */
  readonly key: string;
}

/** By key of the cluster: the name of its stage. A cluster that is in none has no entry. */
export type StageAssignment = ReadonlyMap<string, string>;

/** The stage of a strategy with `maxFailures` or `onFailure` and without stages: all clusters. */
export const onlyStage = "all";

/** The name of the stage that a strategy without `stages` has. */
const implicitStages: readonly RolloutStage[] = [{ name: onlyStage }];

/** Whether a strategy gets a BundleRollout for each change. Every other one costs nothing. */
export function isStaged(
  strategy: RolloutStrategy | null | undefined,
): strategy is RolloutStrategy {
  return (
    strategy !== undefined &&
    strategy !== null &&
    ((strategy.stages ?? []).length > 0 ||
      (strategy.maxFailures ?? undefined) !== undefined ||
      (strategy.onFailure ?? undefined) !== undefined)
  );
}

/** The stages in their order; a strategy without any has one for all clusters. */
export function stagesOf({ stages }: RolloutStrategy): readonly RolloutStage[] {
  return stages === undefined || stages.length === 0 ? implicitStages : stages;
}

/** The stage of each cluster. Clusters are taken in the order of their names, or in turn from the values of `spreadBy`. */
export function assignStages(
  stages: readonly RolloutStage[],
  clusters: readonly StagedCluster[],
  groups: readonly TargetGroup[],
): StageAssignment {
  const assigned = new Map<string, string>();
  let left = [...clusters].sort(byName);
  for (const stage of stages) {
    const matching: StagedCluster[] = [];
    const others: StagedCluster[] = [];
    for (const cluster of left)
      (matchesStage(stage, cluster, groups) ? matching : others).push(cluster);
    const most =
      stage.upTo === undefined ? matching.length : roundedUp(stage.upTo, matching.length);
    for (const cluster of spread(matching, stage.spreadBy).slice(0, most))
      assigned.set(cluster.key, stage.name);
    left = most < matching.length ? left.filter(({ key }) => !assigned.has(key)) : others;
  }
  return assigned;
}

/** Whether a cluster meets the criteria of a stage, whatever earlier stages take and however many this one does. */
export function matchesStage(
  stage: RolloutStage,
  cluster: StagedCluster,
  groups: readonly TargetGroup[],
): boolean {
  if (!hasCriteria(stage)) return true;
  // The groups of a cluster are found for each comparison, and there may be thousands.
  const byGroup = isGiven(stage.clusterGroup) || isGiven(stage.clusterGroupSelector);
  return matchesAny(cluster, stage, byGroup ? groups : []);
}

/** Whether a stage selects clusters; without criteria it takes all that are left. */
export function hasCriteria(stage: RolloutStage): boolean {
  const { clusterName, clusterSelector, clusterGroup, clusterGroupSelector } = stage;
  return (
    isGiven(clusterName) ||
    isGiven(clusterSelector) ||
    isGiven(clusterGroup) ||
    isGiven(clusterGroupSelector)
  );
}

/** Taken in turn from the values of the label, which are in alphabetical order; without a label in the order given. */
function spread(
  clusters: readonly StagedCluster[],
  label: string | null | undefined,
): readonly StagedCluster[] {
  if (!label) return clusters;
  const byValue = [...Map.groupBy(clusters, ({ labels }) => labels[label] ?? "")];
  let queues = byValue.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
  const inTurn: StagedCluster[] = [];
  for (let turn = 0; queues.length > 0; turn += 1) {
    queues = queues.filter(({ length }) => length > turn);
    for (const queue of queues) inTurn.push(...queue.slice(turn, turn + 1));
  }
  return inTurn;
}

function byName(a: StagedCluster, b: StagedCluster): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

/** A count, or a share of what there is. */
export type CountOrShare = number | string;

/** Undefined: neither a whole number nor a percentage. */
function parse(
  value: CountOrShare,
): { readonly count: number } | { readonly percent: number } | undefined {
  if (typeof value === "number") return { count: value };
  const percent = /^(-?\d+(?:\.\d+)?)%$/.exec(value)?.[1];
  if (percent !== undefined) return { percent: Number(percent) };
  return /^\d+$/.test(value) ? { count: Number(value) } : undefined;
}

/** Whether a text or number can be used as a count or a share. */
export function isCountOrShare(value: CountOrShare): boolean {
  return parse(value) !== undefined;
}

/** As `upTo`: rounded up, at least 1, at most all. */
export function roundedUp(value: CountOrShare, total: number): number {
  const parsed = parse(value);
  if (parsed === undefined) return total;
  const count = "count" in parsed ? parsed.count : Math.ceil(exactShare(parsed.percent, total));
  return Math.min(total, Math.max(1, count));
}

/** As `maxFailures`: rounded down; it may be 0. */
export function roundedDown(value: CountOrShare, total: number): number {
  const parsed = parse(value);
  if (parsed === undefined) return 0;
  const count = "count" in parsed ? parsed.count : Math.floor(exactShare(parsed.percent, total));
  return Math.max(0, count);
}

/** As `maxUnavailable` in stages: rounded down as in Fleet, at least 1. Absent: all. */
export function atLeastOne(value: CountOrShare | null | undefined, total: number): number {
  return Math.max(1, limitOf(value, total, "100%") ?? 1);
}

/** Without the error that 0.1 * 3 has: shares have six decimals at most. */
function exactShare(percent: number, total: number): number {
  return (Math.round(percent * 1e6) * total) / 1e8;
}
