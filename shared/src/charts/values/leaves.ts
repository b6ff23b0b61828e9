/** The single values in values of a chart. Pure. */
import { isMap, type Values } from "./merge-values.ts";

/** A value that is not a map, or a map without entries. A list is one value, because Helm replaces it as a whole. */
export interface Leaf {
  readonly keys: readonly string[];
  /** The keys as Helm's `--set` has them: `image.tag`, with a backslash before the characters that mean something there. */
  readonly path: string;
  readonly value: unknown;
}

/** In the order of the maps. */
export function leavesOf(values: Values): readonly Leaf[] {
  return Object.entries(values).flatMap(([key, value]) => leavesUnder([key], value));
}

function leavesUnder(keys: readonly string[], value: unknown): readonly Leaf[] {
  const entries = isMap(value) ? Object.entries(value) : [];
  return entries.length === 0
    ? [{ keys, path: pathOf(keys), value }]
    : entries.flatMap(([key, inner]) => leavesUnder([...keys, key], inner));
}

function pathOf(keys: readonly string[]): string {
  return keys.map((key) => key.replace(/[\\.,=[]/g, "\\$&")).join(".");
}
