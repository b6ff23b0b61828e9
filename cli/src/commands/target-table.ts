/** Which target and which stage take each cluster, and why, as a table. Pure. */

import {
  assignStages,
  explainStage,
  explainTarget,
  isStaged,
  stagesOf,
  toTargetCluster,
  toTargetGroup,
} from "@flotilla/hub/rules";
import type { Bundle, Cluster, ClusterGroup, RolloutStrategy } from "@flotilla/shared/api";
import { maxNamed } from "@flotilla/shared/api/rollout";
import { keyOf } from "@flotilla/shared/kube/objects";
import { oneLine } from "@flotilla/shared/text";
import { formatTable } from "./format-table.ts";
import { printable } from "./printable.ts";
import { namesText } from "./rollout-table.ts";

/** What is read to say it. `strategy`: the Bundle's own, or the one of the RolloutPolicy that it names. */
export interface TargetFacts {
  readonly bundle: Pick<Bundle, "spec">;
  readonly strategy: RolloutStrategy | undefined;
  readonly clusters: readonly Cluster[];
  readonly groups: readonly ClusterGroup[];
}

/** A cluster, and what takes it. */
export interface TargetedCluster {
  /** `namespace/name`. */
  readonly cluster: string;
  readonly isTarget: boolean;
  /** Why a target takes it, or none does. */
  readonly why: string;
  /** Absent: it is in none, or there are no stages. */
  readonly stage?: string;
  /** Absent: there are no stages, or no target takes it. */
  readonly stageWhy?: string;
}

/** All clusters of the namespace: in the order of their stages, then the ones in no stage, then the ones that no target takes. */
export function targetedClusters(facts: TargetFacts): readonly TargetedCluster[] {
  const { bundle, strategy } = facts;
  const groups = facts.groups.map(toTargetGroup);
  const explained = facts.clusters
    .map((cluster) => ({ ...toTargetCluster(cluster), key: keyOf(cluster) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map((cluster) => ({ cluster, ...explainTarget(cluster, bundle.spec, groups) }));
  const stages = isStaged(strategy) ? stagesOf(strategy) : [];
  const targets = explained.filter(({ isTarget }) => isTarget).map(({ cluster }) => cluster);
  const assignment = assignStages(stages, targets, groups);
  const rank = (stage: string | undefined) => {
    const index = stages.findIndex(({ name }) => name === stage);
    return index === -1 ? stages.length : index;
  };
  return explained
    .map(({ cluster, isTarget, why }) => {
      const assigned = assignment.get(cluster.key);
      const isStagedTarget = isTarget && stages.length > 0;
      return {
        cluster: cluster.key,
        isTarget,
        why,
        ...(assigned !== undefined && { stage: assigned }),
        ...(isStagedTarget && { stageWhy: explainStage(cluster, { stages, assigned, groups }) }),
      };
    })
    .toSorted((a, b) => order(a, rank) - order(b, rank));
}

function order(
  { isTarget, stage }: TargetedCluster,
  rank: (stage: string | undefined) => number,
): number {
  return isTarget ? rank(stage) : Number.MAX_SAFE_INTEGER;
}

/** The clusters as a table, then what nothing takes. */
export function targetTable(
  list: readonly TargetedCluster[],
  strategy: RolloutStrategy | undefined,
): string {
  const hasStages = isStaged(strategy);
  const table = formatTable(
    ["CLUSTER", "TARGET", ...(hasStages ? ["STAGE"] : []), "WHY"],
    list.map((each) => [
      each.cluster,
      each.isTarget ? "yes" : "no",
      ...(hasStages ? [each.isTarget ? (each.stage ?? "none") : ""] : []),
      oneLine(printable([each.why, each.stageWhy ?? ""].filter((text) => text !== "").join("; "))),
    ]),
  );
  const unstaged = list.filter(
    ({ isTarget, stage }) => hasStages && isTarget && stage === undefined,
  );
  const untaken = list.filter(({ isTarget }) => !isTarget);
  const taken = new Set(list.map(({ stage }) => stage));
  const empty = hasStages ? stagesOf(strategy).filter(({ name }) => !taken.has(name)) : [];
  const lines = [
    sentence("in no stage, so that nothing is rolled out there", unstaged),
    sentence("taken by no target", untaken),
    empty.length === 0
      ? ""
      : `stages without a cluster: ${empty
          .slice(0, maxNamed)
          .map(({ name }) => name)
          .join(", ")}\n`,
  ].filter((line) => line !== "");
  return [table, lines.join("")].filter((part) => part !== "").join("\n");
}

function sentence(what: string, list: readonly TargetedCluster[]): string {
  if (list.length === 0) return "";
  const first = list.slice(0, maxNamed).map(({ cluster }) => cluster);
  return `clusters ${what}: ${namesText({ count: list.length, first })}\n`;
}
