/** Label and field selectors as text, for the API server in memory. */
import type { KubeObject } from "../objects/index.ts";

export interface ObjectSelection {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Field selectors on `metadata.name` and `metadata.namespace`, as every kind has them, and on the type of Secrets. */
export function matchesSelection(
  object: KubeObject,
  { labelSelector = "", fieldSelector = "" }: ObjectSelection,
): boolean {
  const { metadata } = object;
  const fields = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace ?? "",
    // A field of Secrets.
    ...("type" in object && { type: String(object.type) }),
  };
  return (
    requirementsOf(labelSelector).every((one) => matchesRequirement(metadata.labels ?? {}, one)) &&
    requirementsOf(fieldSelector).every((one) => matchesRequirement(fields, one))
  );
}

/** Splits at the commas that are not inside parentheses. */
function requirementsOf(selector: string): readonly string[] {
  return selector.split(/,(?![^(]*\))/).filter((text) => text.trim() !== "");
}

function matchesRequirement(
  values: Readonly<Record<string, string>>,
  requirement: string,
): boolean {
  const set = /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(requirement);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const isListed = list.split(",").some((value) => value.trim() === values[key]);
    return isListed === (operator === "in");
  }
  const equality = /^\s*([^\s!=]+)\s*(==?|!=)\s*(\S*)\s*$/.exec(requirement);
  if (equality !== null) {
    const [, key = "", operator, value] = equality;
    return (values[key] === value) === (operator !== "!=");
  }
  const key = requirement.trim();
  return key.startsWith("!") ? values[key.slice(1)] === undefined : values[key] !== undefined;
}
