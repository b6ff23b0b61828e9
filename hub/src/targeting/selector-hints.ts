/** Why a selector of clusters matches none of them: which labels and values exist. Pure. */
import type { LabelSelector } from "@flotilla/shared/api";
import type { TargetCluster } from "./match.ts";

/** More would not be read. */
const mostNamed = 5;

interface AskedLabel {
  readonly key: string;
  /** Undefined: any value. */
  readonly values: readonly string[] | undefined;
}

/**
 * A sentence for each label of the selector that no cluster has as it asks for: `no Cluster has env=prd; env is prod, stage`.
 * None where each of them is satisfied by some cluster, but not all by one.
 */
export function selectorHints(
  { matchLabels, matchExpressions }: LabelSelector,
  clusters: readonly TargetCluster[],
): readonly string[] {
  if (clusters.length === 0) return [];
  const equal = Object.entries(matchLabels ?? {}).map(([key, value]) => ({ key, values: [value] }));
  const listed = (matchExpressions ?? []).flatMap(({ key, operator, values }): AskedLabel[] => {
    if (operator === "In") return [{ key, values: values ?? [] }];
    return operator === "Exists" ? [{ key, values: undefined }] : [];
  });
  return [...equal, ...listed].flatMap((label) => hintFor(label, clusters));
}

function hintFor(
  { key, values }: AskedLabel,
  clusters: readonly TargetCluster[],
): readonly string[] {
  const found = sorted(
    clusters.flatMap(({ labels }) => (Object.hasOwn(labels, key) ? [labels[key] ?? ""] : [])),
  );
  if (found.length === 0) {
    const keys = sorted(clusters.flatMap(({ labels }) => Object.keys(labels)));
    const others = keys.length === 0 ? "the Clusters have no labels" : `labels are ${named(keys)}`;
    return [`no Cluster has the label ${key}; ${others}`];
  }
  if (values === undefined || values.some((value) => found.includes(value))) return [];
  const asked = values.length === 1 ? `${key}=${values[0] ?? ""}` : `${key} in (${named(values)})`;
  return [`no Cluster has ${asked}; ${key} is ${named(found)}`];
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

function named(texts: readonly string[]): string {
  const more = texts.length - mostNamed;
  return `${texts.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
