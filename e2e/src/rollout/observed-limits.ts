/** What observed states say about a rollout: how long it took, how often it wrote, and whether it kept its limits. Pure. */
import type { ClusterState } from "./rollout-observer.ts";

/** A stage as the strategy has it. */
export interface ObservedStage {
  readonly clusters: ReadonlySet<string>;
  /** The most clusters that may be in flight. */
  readonly maxUnavailable: number;
}

/** From the first cluster that got a content until all that got it were ready. */
export interface Span {
  readonly beginsAtMs: number;
  readonly endsAtMs: number;
}

/** The content that the states have and that no cluster had before; undefined: none is there yet. */
export function newContent(
  states: readonly ClusterState[],
  before: ReadonlySet<string>,
): string | undefined {
  return states.find(({ desired }) => desired !== "" && !before.has(desired))?.desired;
}

/** The time of one content in some clusters; undefined: none of them got it. */
export function spanOf(
  states: readonly ClusterState[],
  content: string,
  clusters?: ReadonlySet<string>,
): Span | undefined {
  const own = states.filter(
    ({ cluster, desired }) => desired === content && clusters?.has(cluster) !== false,
  );
  const ready = own.filter(({ isReady }) => isReady);
  const [first, last] = [own.at(0), ready.at(-1)];
  return first && last && { beginsAtMs: first.atMs, endsAtMs: last.atMs };
}

/** How often the BundleDeployment of each cluster was written; the one that was written most. */
export function mostWrites(states: readonly ClusterState[]): number {
  const writes = new Map<string, number>();
  for (const { cluster } of states) writes.set(cluster, (writes.get(cluster) ?? 0) + 1);
  return Math.max(0, ...writes.values());
}

/**
 * What broke the limits of a rollout, one sentence each, checked at each resource version: more clusters in flight than a stage allows,
 * or a cluster that was promoted before the stage before it was ready everywhere. `before`: the states when it began.
 */
export function brokenLimits(
  states: readonly ClusterState[],
  content: string,
  stages: readonly ObservedStage[],
): readonly string[] {
  const stageOf = new Map(
    stages.flatMap(({ clusters }, index) => [...clusters].map((name) => [name, index] as const)),
  );
  const inFlight = stages.map(() => new Set<string>());
  const ready = stages.map(() => new Set<string>());
  const completed = new Set<number>();
  const broken: string[] = [];
  for (const { cluster, desired, isReady, resourceVersion } of states) {
    const index = stageOf.get(cluster);
    const [own, done] = index === undefined ? [] : [inFlight[index], ready[index]];
    const stage = index === undefined ? undefined : stages[index];
    if (index === undefined || own === undefined || done === undefined || stage === undefined) {
      broken.push(`${cluster} is in no stage`);
      continue;
    }
    const wasPromoted = own.has(cluster) || done.has(cluster);
    own.delete(cluster);
    done.delete(cluster);
    if (desired !== content) continue;
    (isReady ? done : own).add(cluster);
    if (own.size > stage.maxUnavailable)
      broken.push(
        `${own.size} clusters of stage ${index + 1} are in flight at resource version ${resourceVersion}, and ${stage.maxUnavailable} may be`,
      );
    if (done.size === stage.clusters.size) completed.add(index);
    if (!wasPromoted && index > 0 && !completed.has(index - 1))
      broken.push(
        `${cluster} of stage ${index + 1} was promoted at resource version ${resourceVersion}, before stage ${index} was ready everywhere`,
      );
  }
  return broken;
}
