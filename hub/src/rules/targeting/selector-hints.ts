/** Why a selector of clusters matches none of them: which labels and values exist. Pure. */
import type { LabelSelector } from "@flotilla/shared/api";
import type { TargetCluster } from "./match.ts";

/** More would not be read. */
const mostNamed = 5;

/** The labels of all clusters, collected when they are first read. */
export interface ClusterLabels {
  readonly isEmpty: boolean;
  valuesOf(key: string): ReadonlySet<string> | undefined;
  /** The first values of a key. */
  namedValues(key: string): string;
  /** The first keys; undefined: there are none. */
  readonly namedKeys: string | undefined;
}

export function clusterLabels(clusters: readonly TargetCluster[]): ClusterLabels {
  let collected: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  let keys: string | undefined;
  // Targets may ask for the same label thousands of times.
  const named = new Map<string, string>();
  function values(): ReadonlyMap<string, ReadonlySet<string>> {
    collected ??= collect(clusters);
    return collected;
  }
  return {
    isEmpty: clusters.length === 0,
    valuesOf: (key) => values().get(key),
    namedValues(key) {
      const text = named.get(key) ?? firstSorted(values().get(key) ?? []);
      named.set(key, text);
      return text;
    },
    get namedKeys() {
      if (values().size === 0) return undefined;
      keys ??= firstSorted(values().keys());
      return keys;
    },
  };
}

function collect(clusters: readonly TargetCluster[]): ReadonlyMap<string, ReadonlySet<string>> {
  const collected = new Map<string, Set<string>>();
  for (const { labels } of clusters) {
    for (const [key, value] of Object.entries(labels)) {
      const values = collected.get(key);
      if (values === undefined) collected.set(key, new Set([value]));
      else values.add(value);
    }
  }
  return collected;
}

interface AskedLabel {
  readonly key: string;
  /** Undefined: any value. */
  readonly values: readonly string[] | undefined;
}

/**
 * A sentence for each label of the selector that no cluster has as it asks for: `no Cluster has env=prd; env is prod, stage`.
 * None where each of them is satisfied by some cluster, but not all by one. Each is made when it is asked for: a selector can have
 * tens of thousands of labels.
 */
export function* selectorHints(selector: LabelSelector, labels: ClusterLabels): Generator<string> {
  if (labels.isEmpty) return;
  for (const asked of askedLabels(selector)) {
    const hint = hintFor(asked, labels);
    if (hint !== undefined) yield hint;
  }
}

function* askedLabels({ matchLabels, matchExpressions }: LabelSelector): Generator<AskedLabel> {
  for (const [key, value] of Object.entries(matchLabels ?? {})) yield { key, values: [value] };
  for (const { key, operator, values } of matchExpressions ?? []) {
    if (operator === "In") yield { key, values: values ?? [] };
    if (operator === "Exists") yield { key, values: undefined };
  }
}

function hintFor({ key, values }: AskedLabel, labels: ClusterLabels): string | undefined {
  const found = labels.valuesOf(key);
  if (found === undefined) {
    const { namedKeys } = labels;
    const others =
      namedKeys === undefined ? "the Clusters have no labels" : `labels are ${namedKeys}`;
    return `no Cluster has the label ${key}; ${others}`;
  }
  if (values === undefined || values.some((value) => found.has(value))) return undefined;
  const asked = values.length === 1 ? `${key}=${values[0] ?? ""}` : `${key} in (${first(values)})`;
  return `no Cluster has ${asked}; ${key} is ${labels.namedValues(key)}`;
}

function firstSorted(texts: Iterable<string>): string {
  return first([...texts].sort());
}

function first(texts: readonly string[]): string {
  const more = texts.length - mostNamed;
  return `${texts.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
