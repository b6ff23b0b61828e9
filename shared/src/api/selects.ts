/** Kubernetes label selectors: matchLabels and matchExpressions, all ANDed. */
import type { LabelSelector } from "./label-selector.ts";

type Labels = Readonly<Record<string, string>>;
type LabelRequirement = NonNullable<LabelSelector["matchExpressions"]>[number];

/** An empty selector matches everything. An operator that does not exist matches nothing. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  for (const [name, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[name] !== value) return false;
  }
  return (selector.matchExpressions ?? []).every((requirement) => meets(requirement, labels));
}

function meets(requirement: LabelRequirement, labels: Labels): boolean {
  const value = labels[requirement.key];
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      // A CRD of Fleet's lets any text through; that it is none of these is said elsewhere.
      return false;
  }
}
