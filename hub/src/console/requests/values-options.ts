/** What a target adds to the values of its Bundle, so that an agent can give each value its origin. Pure. */
import { type ValuesOptions, wireLimits } from "@flotilla/proto";
import type { Bundle, Cluster, ClusterGroup } from "@flotilla/shared/api";
import { isMap, leavesOf } from "@flotilla/shared/values";
import { nameOfTarget, targetsOf, toTargetCluster, toTargetGroup } from "../../rules/index.ts";

/** A longer path is left out: its value then counts as one of the Bundle. */
const maxPathChars = 1_024;

/** `groups`: of the namespace of the clusters. */
export function valuesOptions(
  { spec }: Bundle,
  cluster: Cluster,
  groups: readonly ClusterGroup[],
): ValuesOptions {
  const targets = targetsOf(toTargetCluster(cluster), spec, groups.map(toTargetGroup));
  const set = targets
    .flatMap(({ helm }) => leavesOf({ ...helm?.values, ...helm?.templateValues }))
    .filter(
      // An empty map sets nothing.
      ({ value }) => !(isMap(value) && Object.keys(value).length === 0),
    );
  return {
    target: targets
      .map((target) => nameOfTarget(target, (spec.targets ?? []).indexOf(target)))
      .join(", "),
    targetPaths: [...new Set(set.map(({ path }) => path))]
      .filter((path) => path.length <= maxPathChars)
      .slice(0, wireLimits.targetPaths),
  };
}
