/** Makes groups of clusters in which the same would change: by the digest of the diff, and by its shape where there are too many. Pure. */
import type { PlanResult } from "@flotilla/shared/plan";
import type { PlanOutcome, UnknownReason } from "./plan-outcome.ts";

/** Clusters in which the same would change. */
export interface PlanGroup {
  /** The diffs in it: one, or several of one shape that were folded. */
  readonly digests: readonly string[];
  readonly shape: string;
  /** The result of `sample`. */
  readonly result: PlanResult;
  /** All of its clusters, by name. */
  readonly clusters: readonly string[];
  /** The cluster whose text stands for all. */
  readonly sample: string;
}

/** Clusters for which there is no plan, for one reason. */
export interface UnknownGroup {
  readonly reason: UnknownReason;
  /** By name. */
  readonly clusters: readonly string[];
  /** The message of the first one. */
  readonly message: string;
}

export interface GroupedPlans {
  /** The largest first; groups of the same size by digest. */
  readonly groups: readonly PlanGroup[];
  /** The digests of all changes, each once, sorted; also of what was folded. */
  readonly digests: readonly string[];
  /** Clusters in which nothing would change, by name. */
  readonly unchanged: readonly string[];
  readonly unknown: readonly UnknownGroup[];
}

/** From so many groups on, groups of one shape are folded, and no more are listed. */
export const mostGroups = 50;

/** `outcomes`: by key of the cluster. */
export function groupPlans(outcomes: ReadonlyMap<string, PlanOutcome>): GroupedPlans {
  const unchanged: string[] = [];
  const unknown = new Map<UnknownReason, { clusters: string[]; message: string }>();
  const byDigest = new Map<string, { result: PlanResult; clusters: string[] }>();
  for (const [cluster, outcome] of [...outcomes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (outcome.kind === "unknown") {
      const { reason, message } = outcome;
      const known = unknown.get(reason) ?? { clusters: [], message };
      unknown.set(reason, known);
      known.clusters.push(cluster);
    } else if (outcome.result.result === "none") unchanged.push(cluster);
    else {
      const { result } = outcome;
      const known = byDigest.get(result.digest) ?? { result, clusters: [] };
      byDigest.set(result.digest, known);
      known.clusters.push(cluster);
    }
  }
  const groups = [...byDigest].map(([digest, { result, clusters }]) => ({
    digests: [digest],
    shape: result.shape,
    result,
    clusters,
    sample: clusters[0] ?? "",
  }));
  return {
    groups: ordered(groups.length > mostGroups ? folded(groups) : groups),
    digests: [...byDigest.keys()].sort(),
    unchanged,
    unknown: [...unknown]
      .map(([reason, group]) => ({ reason, ...group }))
      .sort((a, b) => (a.reason < b.reason ? -1 : 1)),
  };
}

/** One that fails is not folded with one that does not. */
function folded(groups: readonly PlanGroup[]): readonly PlanGroup[] {
  const byShape = new Map<string, PlanGroup[]>();
  for (const group of groups) {
    const key = `${group.result.result} ${group.shape}`;
    const same = byShape.get(key) ?? [];
    byShape.set(key, same);
    same.push(group);
  }
  return [...byShape.values()].flatMap((same) => {
    const [largest] = ordered(same);
    if (largest === undefined) return [];
    return [
      {
        ...largest,
        digests: same.flatMap(({ digests }) => digests).sort(),
        clusters: same.flatMap(({ clusters }) => clusters).sort(),
      },
    ];
  });
}

function ordered(groups: readonly PlanGroup[]): readonly PlanGroup[] {
  return groups.toSorted(
    (a, b) =>
      b.clusters.length - a.clusters.length ||
      ((a.digests[0] ?? "") < (b.digests[0] ?? "") ? -1 : 1),
  );
}
