/** What makes a rollout strategy unusable, as a sentence with its field. A limit that is not understood must not let everything through. Pure. */
import { selectorProblem } from "../targeting/selector-problem.ts";
import { targetCountProblem } from "../targeting/target-count.ts";
import { limitProblem } from "./limit.ts";
import type { RolloutStrategy } from "./partitions.ts";

/** `field`: where it is. Undefined: it can be used. */
export function strategyProblem(
  strategy: RolloutStrategy | null | undefined,
  field = "spec.rolloutStrategy",
): string | undefined {
  if (strategy === undefined || strategy === null) return undefined;
  const tooMany = targetCountProblem(`${field}.partitions`, strategy.partitions);
  if (tooMany !== undefined) return tooMany;
  for (const name of ["maxUnavailable", "maxUnavailablePartitions", "autoPartitionSize"] as const) {
    const problem = limitProblem(`${field}.${name}`, strategy[name]);
    if (problem !== undefined) return problem;
  }
  for (const [index, partition] of (strategy.partitions ?? []).entries()) {
    const path = `${field}.partitions[${index}]`;
    const problem = limitProblem(`${path}.maxUnavailable`, partition.maxUnavailable);
    if (problem !== undefined) return problem;
    for (const selector of ["clusterSelector", "clusterGroupSelector"] as const) {
      const wrong = selectorProblem(partition[selector] ?? {});
      if (wrong !== undefined) return `${path}.${selector} cannot be used: ${wrong}`;
    }
  }
  return undefined;
}
