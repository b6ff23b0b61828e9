/** Numbers for the members of a rollout: a key of its own for each of ten thousand would be a megabyte. Pure. */
import type { Cluster } from "@flotilla/shared/api";
import { keyOf, type ObjectKey, type ObjectRef, refOf } from "@flotilla/shared/kube/objects";

export class MemberNumbers {
  /** In order. The texts belong to the Clusters in the cache, so they cost a pointer each. */
  readonly #names: readonly string[];
  readonly #namespaces: readonly string[];

  /** `refs`: in the order of `compareNames`. */
  constructor(refs: readonly ObjectRef[]) {
    this.#names = refs.map(({ name }) => name);
    this.#namespaces = refs.map(({ namespace = "" }) => namespace);
  }

  get size(): number {
    return this.#names.length;
  }

  /** From zero; undefined: it is none of them. */
  numberOf(key: ObjectKey): number | undefined {
    const wanted = refOf(key);
    let [from, to] = [0, this.size];
    while (from < to) {
      const middle = (from + to) >> 1;
      const order = compareNames(this.#refAt(middle), wanted);
      if (order === 0) return middle;
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return undefined;
  }

  keyAt(number: number): ObjectKey {
    const { name, namespace } = this.#refAt(number);
    return keyOf(namespace === "" ? { name } : { namespace, name });
  }

  #refAt(number: number): Required<ObjectRef> {
    return { name: this.#names[number] ?? "", namespace: this.#namespaces[number] ?? "" };
  }
}

/** By name, then by namespace: the order of the members of a rollout. */
export function compareNames(
  one: ObjectRef | Cluster["metadata"],
  other: ObjectRef | Cluster["metadata"],
): number {
  return compare(one.name, other.name) || compare(one.namespace ?? "", other.namespace ?? "");
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
