/**
 * What an object becomes, worked out without the API server: where an admission webhook does not support dry runs, and for fields that
 * only Helm's own patch removes. Values that the API server sets by default, or writes in another form, are not known here. Pure.
 */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { isFields, mergePatchOf } from "../../observe/index.ts";

/** `desired` over `live`. */
export function mergedObject(live: KubeObject, desired: KubeObject): KubeObject {
  // Still an object with metadata: the patch has no null there.
  return mergedFields(live, mergePatchOf(desired, live)) as KubeObject;
}

/** As the API server applies a JSON merge patch. */
function mergedFields(live: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const fields: Record<string, unknown> = { ...(isFields(live) ? live : {}) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete fields[key];
    else fields[key] = mergedFields(fields[key], value);
  }
  return fields;
}

/** Without what `before`, the object as it was applied last, had and `after` has not: a patch by the client removes it. */
export function withoutRemoved(
  planned: KubeObject,
  before: KubeObject,
  after: KubeObject,
): KubeObject {
  // Still an object with metadata: both have its name.
  return remaining(planned, before, after) as KubeObject;
}

function remaining(planned: unknown, before: unknown, after: unknown): unknown {
  if (Array.isArray(planned) && Array.isArray(before) && Array.isArray(after))
    return remainingItems(planned, before, after);
  if (!isFields(planned) || !isFields(before) || !isFields(after)) return planned;
  return Object.fromEntries(
    Object.entries(planned).flatMap(([key, value]) => {
      if (!Object.hasOwn(before, key)) return [[key, value]];
      // What has become null, or has gone, is removed.
      if (after[key] === undefined || after[key] === null) return [];
      return [[key, remaining(value, before[key], after[key])]];
    }),
  );
}

function remainingItems(
  planned: readonly unknown[],
  before: readonly unknown[],
  after: readonly unknown[],
): readonly unknown[] {
  const same = (items: readonly unknown[], item: unknown): unknown =>
    items.find((each) => identityOf(each) === identityOf(item));
  return planned.flatMap((item) => {
    const [earlier, later] = [same(before, item), same(after, item)];
    if (earlier === undefined) return [item];
    return later === undefined ? [] : [remaining(item, earlier, later)];
  });
}

/** Most lists of Kubernetes have items with a name. */
function identityOf(item: unknown): string {
  if (!isFields(item)) return JSON.stringify(item);
  const { name } = item;
  return typeof name === "string" ? `name ${name}` : JSON.stringify(item);
}
