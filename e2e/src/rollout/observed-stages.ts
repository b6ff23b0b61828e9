/**
 * What observed states say about stages whose clusters change: each promotion is judged by the stage that took its cluster then. Pure, and
 * by nothing but what the API server has delivered.
 */
import type { ClusterState, LabelState } from "./rollout-observer.ts";

/** A stage as the strategy has it. */
export interface LabelledStage {
  readonly name: string;
  readonly takes: (labels: Readonly<Record<string, string>>) => boolean;
  /** The most clusters that may be in flight. */
  readonly maxUnavailable: number;
  /** From which resource version on its clusters may be promoted: the stage before is stored as completed, and its gates as passed. */
  readonly opensAt: number;
}

export interface ObservedRollout {
  /** Those since the rollout began. */
  readonly states: readonly ClusterState[];
  readonly labels: readonly LabelState[];
  /** What it promotes. */
  readonly content: string;
  /** What is in flight for longer has failed, and is in flight no more. */
  readonly deadlineMs: number;
}

export interface ObservedStages {
  /** One sentence for each promotion that was not permitted. */
  readonly broken: readonly string[];
  /** The most clusters of each stage in flight right after a promotion there. */
  readonly largest: ReadonlyMap<string, number>;
}

/** The hub decides by labels that may have changed since; how long ago at most. */
const lagMs = 5_000;
/** A hub may count a cluster as failed that this much is missing for. */
const clockMs = 1_000;

type StageOf = (cluster: string) => LabelledStage | undefined;

export function observedStages(
  { states, labels, content, deadlineMs }: ObservedRollout,
  stages: readonly LabelledStage[],
): ObservedStages {
  const history = Map.groupBy(labels, ({ cluster }) => cluster);
  const latest = new Map<string, ClusterState>();
  const largest = new Map<string, number>();
  const broken: string[] = [];

  /** By the labels that each cluster had. */
  const stagesAt =
    (isBefore: (state: LabelState) => boolean): StageOf =>
    (cluster) => {
      const known = history.get(cluster) ?? [];
      const then = known.findLast(isBefore) ?? known[0];
      return stages.find((stage) => stage.takes(then?.labels ?? {}));
    };

  function inFlightIn(stage: LabelledStage, stageOf: StageOf, nowMs: number): number {
    return [...latest.values()].filter(({ cluster, desired, isReady, ...state }) => {
      if (desired !== content || isReady || stageOf(cluster) !== stage) return false;
      const sinceMs = Math.max(state.promotedAtMs ?? 0, state.unreadySinceMs ?? 0);
      return nowMs - sinceMs + clockMs <= deadlineMs;
    }).length;
  }

  /** Undefined: it was permitted. */
  function problemOf(state: ClusterState, stageOf: StageOf): string | undefined {
    const { cluster, resourceVersion, promotedAtMs = 0 } = state;
    const stage = stageOf(cluster);
    if (stage === undefined) return `${cluster} is in no stage`;
    const { name, maxUnavailable, opensAt } = stage;
    if (resourceVersion < opensAt)
      return `${cluster} of stage ${name} was promoted at resource version ${resourceVersion}, and the stage opened at ${opensAt}`;
    const inFlight = inFlightIn(stage, stageOf, promotedAtMs);
    return inFlight <= maxUnavailable
      ? undefined
      : `${inFlight} clusters of stage ${name} are in flight at resource version ${resourceVersion}, and ${maxUnavailable} may be`;
  }

  for (const state of states) {
    const { cluster, resourceVersion, atMs } = state;
    const before = latest.get(cluster);
    latest.set(cluster, state);
    if (state.desired !== content) continue;
    if (before?.desired === content) {
      if (before.promotedAtMs !== state.promotedAtMs)
        broken.push(`${cluster} was promoted again at resource version ${resourceVersion}`);
      continue;
    }
    const now = stagesAt((each) => each.resourceVersion <= resourceVersion);
    const problem = problemOf(state, now);
    const earlier = stagesAt((each) => each.atMs <= atMs - lagMs);
    if (problem !== undefined && problemOf(state, earlier) !== undefined) broken.push(problem);
    const stage = now(cluster);
    if (stage === undefined) continue;
    const inFlight = inFlightIn(stage, now, state.promotedAtMs ?? 0);
    largest.set(stage.name, Math.max(largest.get(stage.name) ?? 0, inFlight));
  }
  return { broken, largest };
}
