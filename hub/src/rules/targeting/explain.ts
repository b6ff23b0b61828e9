/** Why a Bundle is deployed to a cluster, or why not, in words. Pure. */
import type { LabelSelector } from "@flotilla/shared/api";
import {
  isGiven,
  matchesAny,
  type TargetCluster,
  type TargetCriteria,
  type TargetGroup,
  type Targeting,
  targetFor,
} from "./match.ts";

export interface TargetExplanation {
  readonly isTarget: boolean;
  readonly why: string;
}

interface NamedCriteria extends TargetCriteria {
  readonly name?: string | null | undefined;
}

/** Targets that do not match, in one sentence. */
const maxExplained = 3;

export function explainTarget(
  cluster: TargetCluster,
  targeting: Targeting<NamedCriteria>,
  groups: readonly TargetGroup[],
): TargetExplanation {
  const targets = targeting.targets ?? [];
  const first = targets.findIndex((target) => matchesAny(cluster, target, groups));
  const matching = targets[first];
  if (matching === undefined) return { isTarget: false, why: whyNone(cluster, targets) };
  const name = nameOfTarget(matching, first);
  if (matching.doNotDeploy === true)
    return { isTarget: false, why: `${name} matches it, and has doNotDeploy` };
  if (targetFor(cluster, targeting, groups) === undefined)
    return { isTarget: false, why: `${name} matches it, but none of targetRestrictions does` };
  return { isTarget: true, why: `${name} matches it: ${criteriaText(matching)}` };
}

function whyNone(cluster: TargetCluster, targets: readonly NamedCriteria[]): string {
  if (targets.length === 0) return "it has no targets";
  const reasons = targets
    .slice(0, maxExplained)
    .map((target, index) => `${nameOfTarget(target, index)} has ${criteriaText(target)}`);
  const more =
    targets.length > maxExplained ? `, and ${targets.length - maxExplained} more do not` : "";
  const labels = labelsIn(targets)
    .map((key) => `${key}=${cluster.labels[key] ?? "(none)"}`)
    .join(", ");
  return `no target matches it: ${reasons.join("; ")}${more}${labels === "" ? "" : `; the cluster has ${labels}`}`;
}

/** For people. */
export function nameOfTarget({ name }: Pick<NamedCriteria, "name">, index: number): string {
  return isGiven(name) ? `target ${name}` : `target ${index + 1}`;
}

const everyCluster = "{} (every cluster)";

function criteriaText(criteria: TargetCriteria): string {
  const { clusterName, clusterSelector, clusterGroup, clusterGroupSelector } = criteria;
  const parts = [
    isGiven(clusterName) ? `clusterName ${clusterName}` : "",
    isGiven(clusterSelector)
      ? `clusterSelector ${selectorText(clusterSelector) || everyCluster}`
      : "",
    isGiven(clusterGroup) ? `clusterGroup ${clusterGroup}` : "",
    isGiven(clusterGroupSelector)
      ? `clusterGroupSelector ${selectorText(clusterGroupSelector) || everyCluster}`
      : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "no criteria, which match nothing" : parts.join(" and ");
}

/** As `kubectl get -l` has it; "": it selects everything. */
export function selectorText({ matchLabels, matchExpressions }: LabelSelector): string {
  const labels = Object.entries(matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (matchExpressions ?? []).map(({ key, operator, values }) => {
    const list = `(${(values ?? []).join(",")})`;
    switch (operator) {
      case "In":
        return `${key} in ${list}`;
      case "NotIn":
        return `${key} notin ${list}`;
      case "Exists":
        return key;
      case "DoesNotExist":
        return `!${key}`;
      default:
        return `${key} ${String(operator)}`;
    }
  });
  return [...labels, ...expressions].join(",");
}

/** The labels of clusters that the targets select by. */
function labelsIn(targets: readonly TargetCriteria[]): readonly string[] {
  const keys = targets.flatMap(({ clusterSelector }) => [
    ...Object.keys(clusterSelector?.matchLabels ?? {}),
    ...(clusterSelector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
  return [...new Set(keys)];
}
