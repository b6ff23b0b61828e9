/** A fleet that follows a rollout strategy step by step, as a table of known answers describes it. */

import type { PauseReason } from "../hold.ts";
import { partitionsOf, type RolloutStrategy } from "../partitions.ts";
import { type PartitionPlan, planPartitions, type RolloutDeployment } from "../plan-partitions.ts";

export interface SimulatedCluster {
  readonly name: string;
  deployment: RolloutDeployment | undefined;
  pause: PauseReason | undefined;
  isOffline: boolean;
  /** What it never becomes ready with. */
  readonly failsWith: Set<string>;
}

export interface SimulatedRollout {
  readonly clusters: readonly SimulatedCluster[];
  /** One step with this revision: names of the clusters that are promoted. They have not reported yet. */
  step(content: string): readonly string[];
  /** Connected agents apply what was promoted, and become ready if they can. */
  report(): void;
  /** Steps and reports until a step promotes nothing: what each step promoted. At most `most`. */
  run(content: string, most?: number): readonly (readonly string[])[];
  readonly plan: PartitionPlan;
}

export interface SimulatedOptions {
  readonly strategy: RolloutStrategy;
  readonly clusters: readonly SimulatedCluster[];
  /** By position, for each listed partition. */
  readonly listed?: readonly (readonly number[])[];
}

/** `c00` and so on. `content`: what all have; undefined: they are new. */
export function fleetOf(count: number, content: string | undefined): SimulatedCluster[] {
  const digits = String(count - 1).length;
  return Array.from({ length: count }, (_, index) => ({
    name: `c${String(index).padStart(Math.max(2, digits), "0")}`,
    deployment:
      content === undefined ? undefined : { desired: content, applied: content, isReady: true },
    pause: undefined,
    isOffline: false,
    failsWith: new Set<string>(),
  }));
}

export function simulateRollout({
  strategy,
  clusters,
  listed = [],
}: SimulatedOptions): SimulatedRollout {
  const partitioned = partitionsOf(strategy, clusters.length, listed);
  let plan = planWith("");

  function planWith(content: string): PartitionPlan {
    const members = clusters.map(({ deployment, pause, isOffline }) => ({
      content,
      deployment,
      pause,
      isOffline,
    }));
    return planPartitions(strategy, members, partitioned);
  }

  function step(content: string): readonly string[] {
    plan = planWith(content);
    return clusters.flatMap((cluster, position) => {
      const { deployment } = cluster;
      if (plan.holds[position] !== undefined || deployment?.desired === content) return [];
      cluster.deployment = { applied: "", isReady: false, ...deployment, desired: content };
      return [cluster.name];
    });
  }

  function report(): void {
    for (const cluster of clusters) {
      const { deployment, isOffline, failsWith } = cluster;
      if (deployment === undefined || deployment.desired === "" || isOffline) continue;
      const { desired } = deployment;
      cluster.deployment = { desired, applied: desired, isReady: !failsWith.has(desired) };
    }
  }

  return {
    clusters,
    step,
    report,
    run(content, most = 1_000) {
      const steps: (readonly string[])[] = [];
      while (steps.length < most) {
        const promoted = step(content);
        if (promoted.length === 0) break;
        steps.push(promoted);
        report();
      }
      return steps;
    },
    get plan() {
      return plan;
    },
  };
}
