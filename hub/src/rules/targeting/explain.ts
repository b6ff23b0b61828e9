/** Why a Bundle is deployed to a cluster, or why not, in words. Pure. */
import type { LabelSelector } from "@flotilla/shared/api";
import {
  customizationsOf,
  isGiven,
  matchesAny,
  type TargetCluster,
  type TargetCriteria,
  type TargetGroup,
  type Targeting,
  targetsOf,
} from "./match.ts";

export interface TargetExplanation {
  readonly isTarget: boolean;
  readonly why: string;
}

interface NamedCriteria extends TargetCriteria {
  readonly name?: string | null | undefined;
}

/** What an explanation reads of a spec. */
export interface ExplainedTargeting extends Targeting<NamedCriteria> {
  readonly rolloutStrategy?:
    | { readonly partitions?: readonly NamedCriteria[] | null | undefined }
    | null
    | undefined;
}

/** Targets that do not match, in one sentence. */
const maxExplained = 3;

export function explainTarget(
  cluster: TargetCluster,
  targeting: ExplainedTargeting,
  groups: readonly TargetGroup[],
): TargetExplanation {
  const targets = targeting.targets ?? [];
  const chosen = targetsOf(cluster, targeting, groups);
  if (chosen.length === 0) return { isTarget: false, why: whyNothing(cluster, targeting, groups) };
  const nameOf = (target: NamedCriteria) => nameOfTarget(target, targets.indexOf(target));
  const [why, ...customizations] = chosen.map((target, index) =>
    index === 0 ? `${nameOf(target)} matches it: ${criteriaText(target)}` : nameOf(target),
  );
  const customized =
    customizations.length === 0 ? "" : `, customized by ${customizations.join(", ")}`;
  return {
    isTarget: true,
    why: `${why}${customized}${withoutPartition(cluster, targeting, groups)}`,
  };
}

/** A cluster that no listed partition takes is a target all the same, and gets nothing. */
function withoutPartition(
  cluster: TargetCluster,
  { rolloutStrategy }: ExplainedTargeting,
  groups: readonly TargetGroup[],
): string {
  const partitions = rolloutStrategy?.partitions ?? [];
  const isTaken =
    partitions.length === 0 || partitions.some((each) => matchesAny(cluster, each, groups));
  return isTaken
    ? ""
    : "; none of rolloutStrategy.partitions takes it, so nothing is deployed there";
}

function whyNothing(
  cluster: TargetCluster,
  targeting: ExplainedTargeting,
  groups: readonly TargetGroup[],
): string {
  const targets = targeting.targets ?? [];
  const matches = (target: NamedCriteria) => matchesAny(cluster, target, groups);
  const customizations = customizationsOf(targeting);
  const ordinary = targets.slice(customizations.length);
  const first = ordinary.findIndex(matches);
  const matching = ordinary[first];
  if (matching === undefined) {
    const custom = customizations.findIndex(matches);
    const found = customizations[custom];
    return found === undefined
      ? whyNone(cluster, targets)
      : `${nameOfTarget(found, custom)} matches it, which only customizes what later targets deploy, and none of those matches it`;
  }
  const refusing = customizations.findIndex((each) => each.doNotDeploy === true && matches(each));
  const refused = customizations[refusing];
  const name = nameOfTarget(matching, customizations.length + first);
  if (matching.doNotDeploy === true) return `${name} matches it, and has doNotDeploy`;
  return refused === undefined
    ? `${name} matches it, but none of targetRestrictions does`
    : `${nameOfTarget(refused, refusing)} matches it, and has doNotDeploy`;
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

/** The criteria that are given, as a person reads them. */
export function criteriaText(criteria: TargetCriteria): string {
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
