/** Where each value of a release comes from: of the layers that are merged, the last one that has it. Pure. */
import { isMap, type Leaf, leavesOf, mergeValues, type Values } from "@flotilla/shared/values";

export type ValueOrigin =
  /** The chart's `values.yaml`. */
  | { readonly kind: "chart" }
  /** `values` of the HelmOp, HelmRelease or Bundle, and of its target. */
  | { readonly kind: "spec" }
  | { readonly kind: "templateValues" }
  /** `valuesFrom`. */
  | {
      readonly kind: "ConfigMap" | "Secret";
      /** The namespace of an object in the cluster; the hub's objects are in the namespace of the HelmOp or HelmRelease. */
      readonly namespace?: string;
      readonly name: string;
      readonly key: string;
    };

export interface ValueLayer {
  readonly origin: ValueOrigin;
  readonly values: Values;
}

export interface ValueWithOrigin extends Omit<Leaf, "keys"> {
  readonly origin: ValueOrigin;
}

/** `layers`: lowest first. Sorted by path. */
export function valuesWithOrigin(layers: readonly ValueLayer[]): readonly ValueWithOrigin[] {
  const merged = layers.reduce<Values>((under, { values }) => mergeValues(under, values), {});
  return leavesOf(merged)
    .flatMap(({ keys, path, value }) => {
      const origin = layers.findLast(({ values }) => has(values, keys))?.origin;
      return origin === undefined ? [] : [{ path, value, origin }];
    })
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** Whether a layer has something at these keys, or at a part of them that is not a map. */
function has(values: Values, keys: readonly string[]): boolean {
  let value: unknown = values;
  for (const key of keys) {
    if (!isMap(value)) return true;
    if (!Object.hasOwn(value, key)) return false;
    value = value[key];
  }
  return true;
}
