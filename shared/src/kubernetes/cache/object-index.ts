/** Finds the objects of a store by values derived from them. */
import type { KubeObject, ObjectKey } from "../objects/index.ts";

/**
 * An index over objects of type T. Stores identify indexes by object, not by name, and build one on first use:
 * define an index once, at module level. An index over a supertype serves every store, as `byNamespace` does.
 */
export interface Index<in T> {
  /** For people. */
  readonly name: string;
  /** The values under which an object is found; pure, and cheap. */
  readonly keysOf: (object: T) => readonly string[];
}

export function defineIndex<T extends KubeObject>(
  name: string,
  keysOf: (object: T) => readonly string[],
): Index<T> {
  return { name, keysOf };
}

/** By the namespace of the object; "" for cluster-scoped ones. */
export const byNamespace: Index<KubeObject> = defineIndex("namespace", ({ metadata }) => [
  metadata.namespace ?? "",
]);

/** The indexes of one store, each kept up to date from its first use on. */
export interface IndexSet<T> {
  /** Replaces one object in all indexes: `undefined` for none. */
  update(key: ObjectKey, before: T | undefined, after: T | undefined): void;
  find(index: Index<T>, value: string): readonly T[];
}

type Buckets<T> = Map<string, Map<ObjectKey, T>>;

export function createIndexSet<T>(objects: ReadonlyMap<ObjectKey, T>): IndexSet<T> {
  const built = new Map<Index<T>, Buckets<T>>();

  function bucketsOf(index: Index<T>): Buckets<T> {
    const known = built.get(index);
    if (known !== undefined) return known;
    const buckets: Buckets<T> = new Map();
    for (const [key, object] of objects)
      for (const value of index.keysOf(object)) insert(buckets, value, key, object);
    built.set(index, buckets);
    return buckets;
  }

  return {
    update(key, before, after) {
      for (const [{ keysOf }, buckets] of built) {
        const old = before === undefined ? [] : keysOf(before);
        const values = after === undefined ? [] : keysOf(after);
        for (const value of old) if (!values.includes(value)) remove(buckets, value, key);
        if (after !== undefined) for (const value of values) insert(buckets, value, key, after);
      }
    },
    find(index, value) {
      const bucket = bucketsOf(index).get(value);
      return bucket === undefined ? [] : [...bucket.values()];
    },
  };
}

function insert<T>(buckets: Buckets<T>, value: string, key: ObjectKey, object: T): void {
  const bucket = buckets.get(value);
  if (bucket === undefined) buckets.set(value, new Map([[key, object]]));
  else bucket.set(key, object);
}

function remove<T>(buckets: Buckets<T>, value: string, key: ObjectKey): void {
  const bucket = buckets.get(value);
  bucket?.delete(key);
  if (bucket?.size === 0) buckets.delete(value);
}
