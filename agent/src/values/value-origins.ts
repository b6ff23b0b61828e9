/**
 * Where each value of a release comes from: the layers that are merged, one over the other, and for each value the last layer that
 * has it. Pure.
 */
import { isMap, type Values } from "@flotilla/shared/values";

/** A value that is no map, or a map without entries. */
export interface Leaf {
  /** A JSON pointer (RFC 6901). */
  readonly path: string;
  readonly value: unknown;
  /** The index of its layer. */
  readonly layer: number;
}

/** `layers`: lowest first. `merged`: what they come to. Sorted by path. */
export function leavesOf(merged: Values, layers: readonly Values[]): readonly Leaf[] {
  const leaves: Leaf[] = [];
  collect(merged, "", (path, value, keys) => {
    leaves.push({ path, value, layer: lastWith(layers, keys) });
  });
  return leaves.sort((one, other) => (one.path < other.path ? -1 : 1));
}

type Visit = (path: string, value: unknown, keys: readonly string[]) => void;

function collect(value: unknown, path: string, visit: Visit, keys: readonly string[] = []): void {
  const entries = isMap(value) ? Object.entries(value) : [];
  if (entries.length === 0) {
    if (keys.length > 0) visit(path, value, keys);
    return;
  }
  for (const [key, inner] of entries)
    collect(inner, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, visit, [
      ...keys,
      key,
    ]);
}

/** The last layer that has something at these keys, or at a part of them that is no map. */
function lastWith(layers: readonly Values[], keys: readonly string[]): number {
  return Math.max(
    0,
    layers.findLastIndex((layer) => {
      let value: unknown = layer;
      for (const key of keys) {
        if (!isMap(value)) return true;
        if (!Object.hasOwn(value, key)) return false;
        value = value[key];
      }
      return true;
    }),
  );
}
