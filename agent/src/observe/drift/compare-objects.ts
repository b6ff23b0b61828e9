/** Compares an object with what it would be if the desired one were applied. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { DriftObject, ForeignField, ObjectDrift } from "./drift.ts";
import { isFields, isWithin, pointerOf, segmentsOf, valueAt } from "./json-pointer.ts";
import { fieldManagersOf, fieldsOfOthers, otherManagerOf } from "./managed-fields.ts";
import { revertPatch } from "./revert-patch.ts";

/** More of one object are not listed. */
const maxFields = 32;

/** Fields of the API server and of controllers. */
const ignoredFields = ["status", "apiVersion", "kind"];
const comparedMetadata = ["labels", "annotations", "finalizers", "ownerReferences"];

export interface Compared {
  readonly object: DriftObject;
  readonly live: KubeObject;
  /** The response of a dry run. */
  readonly reverted: KubeObject;
  readonly ignored: readonly string[];
}

/** Undefined: it is as desired. */
export function changedObject({
  object,
  live,
  reverted,
  ignored,
}: Compared): ObjectDrift | undefined {
  const pointers = changedPointers(live, reverted, { ignored, most: maxFields });
  if (pointers.length === 0) return undefined;
  const managers = fieldManagersOf(live);
  return {
    object,
    what: "changed",
    fields: pointers.map((pointer) => {
      const by = otherManagerOf(live, managers, segmentsOf(pointer));
      return { pointer, ...(by && { manager: by.manager, time: by.time }) };
    }),
    patch: revertPatch(live, reverted, pointers),
  };
}

/**
 * The places where two forms of an object differ, as JSON pointers, without fields of the API server and of controllers. A list with
 * another number of items differs as a whole. `most`: further ones are left out.
 */
export function changedPointers(
  live: KubeObject,
  reverted: KubeObject,
  { ignored, most }: { readonly ignored: readonly string[]; readonly most: number },
): readonly string[] {
  const found: string[] = [];
  function compare(one: unknown, other: unknown, segments: readonly (string | number)[]): void {
    if (found.length >= most || Object.is(one, other)) return;
    const pointer = pointerOf(segments);
    if (ignored.some((each) => isWithin(pointer, each))) return;
    if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
      for (const [index, item] of one.entries()) compare(item, other[index], [...segments, index]);
    else if (isFields(one) && isFields(other))
      for (const key of keysOf(one, other, segments)) {
        const [left, right] = [one, other].map((each) => valueAt(each, [key]));
        compare(left, right, [...segments, key]);
      }
    else if (JSON.stringify(one) !== JSON.stringify(other)) found.push(pointer);
  }
  compare(live, reverted, []);
  return found;
}

function keysOf(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
  segments: readonly (string | number)[],
): readonly string[] {
  if (segments.length === 1 && segments[0] === "metadata") return comparedMetadata;
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted();
  return segments.length === 0 ? keys.filter((key) => !ignoredFields.includes(key)) : keys;
}

/** More of one object are not listed. */
const maxForeign = 8;

/** What others have added. `desired`: as applied. */
export function foreignFields(
  object: DriftObject,
  {
    live,
    desired,
    ignored,
  }: {
    readonly live: KubeObject;
    readonly desired: KubeObject;
    readonly ignored: readonly string[];
  },
): readonly ForeignField[] {
  const roots = object.kind === "ConfigMap" ? ["data", "binaryData"] : ["spec"];
  const isDesired = (segments: readonly string[]): boolean => isInDesired(live, desired, segments);
  return fieldsOfOthers(live, roots, isDesired)
    .filter(({ pointer }) => !ignored.some((each) => isWithin(pointer, each)))
    .slice(0, maxForeign)
    .map((field) => ({ ...field, object }));
}

/** Items of lists may have another position in the desired object, which has the same name. */
function isInDesired(live: unknown, desired: unknown, segments: readonly string[]): boolean {
  let [found, wanted]: readonly unknown[] = [live, desired];
  for (const segment of segments) {
    const item = valueAt(found, [segment]);
    wanted = Array.isArray(wanted) ? sameItem(wanted, item) : valueAt(wanted, [segment]);
    if (wanted === undefined) return false;
    found = item;
  }
  return true;
}

/** The fields that identify an item of most lists of Kubernetes. */
const itemKeys = [
  "name",
  "containerPort",
  "port",
  "mountPath",
  "devicePath",
  "key",
  "type",
  "ip",
  "topologyKey",
];

function sameItem(items: readonly unknown[], item: unknown): unknown {
  if (!isFields(item)) return items.find((each) => each === item);
  const key = itemKeys.find((each) => item[each] !== undefined);
  return items.find((each) => isFields(each) && key !== undefined && each[key] === item[key]);
}
