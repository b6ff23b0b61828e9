/** Finds objects by values derived from them. */

import { AppError, commonErrors } from "../errors/app-error.ts";
import type { ObjectKey } from "./objects/object.ts";

export interface ObjectIndex<T> {
  /** Replaces what is known of an object: `undefined` for none. */
  update(key: ObjectKey, before: T | undefined, after: T | undefined): void;
  find(name: string, value: string): readonly T[];
}

type Buckets<T> = Map<string, Map<ObjectKey, T>>;

export function createObjectIndex<T>(
  indexers: Readonly<Record<string, (object: T) => readonly string[]>>,
): ObjectIndex<T> {
  const indexes = new Map<
    string,
    { readonly valuesOf: (object: T) => readonly string[]; readonly buckets: Buckets<T> }
  >();
  for (const [name, valuesOf] of Object.entries(indexers))
    indexes.set(name, { valuesOf, buckets: new Map() });

  return {
    update(key, before, after) {
      for (const { valuesOf, buckets } of indexes.values()) {
        const old = before === undefined ? [] : valuesOf(before);
        const values = after === undefined ? [] : valuesOf(after);
        for (const value of old) {
          if (!values.includes(value)) take(buckets, value, key);
        }
        if (after !== undefined) for (const value of values) put(buckets, value, key, after);
      }
    },
    find(name, value) {
      const index = indexes.get(name);
      if (index === undefined)
        throw new AppError(commonErrors.INTERNAL, `look up index ${name}: it was not declared`);
      const bucket = index.buckets.get(value);
      return bucket === undefined ? [] : [...bucket.values()];
    },
  };
}

function put<T>(buckets: Buckets<T>, value: string, key: ObjectKey, object: T): void {
  const bucket = buckets.get(value);
  if (bucket === undefined) buckets.set(value, new Map([[key, object]]));
  else bucket.set(key, object);
}

function take<T>(buckets: Buckets<T>, value: string, key: ObjectKey): void {
  const bucket = buckets.get(value);
  bucket?.delete(key);
  if (bucket?.size === 0) buckets.delete(value);
}
