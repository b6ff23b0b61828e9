/** Who set which field of an object, by its `managedFields`. Pure. */
import * as z from "zod";
import { helmFieldManager } from "../../helm/index.ts";
import { isFields, pointerOf, valueAt } from "./json-pointer.ts";

/** A set of fields as Kubernetes writes it: `f:NAME`, `k:{KEYS}` for items of lists, `v:VALUE`, `i:INDEX`; `.` is the place itself. */
export interface FieldSet {
  readonly [key: string]: FieldSet;
}

const fieldSet: z.ZodType<FieldSet> = z.lazy(() => z.record(z.string(), fieldSet));

const managersSchema = z.looseObject({
  metadata: z.looseObject({
    managedFields: z
      .array(
        z.looseObject({
          manager: z.string().default("unknown"),
          time: z.string().optional(),
          fieldsV1: fieldSet.default({}),
        }),
      )
      .default([]),
  }),
});

/** Who set fields of an object, and when last. */
export interface FieldManager {
  readonly manager: string;
  /** RFC 3339. */
  readonly time?: string | undefined;
  readonly fields: FieldSet;
}

export function fieldManagersOf(object: unknown): readonly FieldManager[] {
  const parsed = managersSchema.safeParse(object);
  if (!parsed.success) return [];
  return parsed.data.metadata.managedFields.map(({ manager, time, fieldsV1 }) => ({
    manager,
    fields: fieldsV1,
    ...(time !== undefined && { time }),
  }));
}

/** Helm, and the agent itself. */
export function isOwnManager({ manager }: Pick<FieldManager, "manager">): boolean {
  return manager === helmFieldManager || manager.startsWith("flotilla");
}

/** The newest of the managers other than ours that set the field or a part of it. */
export function otherManagerOf(
  object: unknown,
  managers: readonly FieldManager[],
  segments: readonly string[],
): FieldManager | undefined {
  return managers
    .filter((each) => !isOwnManager(each) && sets(each.fields, object, segments))
    .toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1))[0];
}

function sets(fields: FieldSet, value: unknown, segments: readonly string[]): boolean {
  let within = fields;
  let found = value;
  for (const segment of segments) {
    // A list or map that is set as a whole.
    if (isLeaf(within)) return true;
    const isItem = Array.isArray(found);
    const item: unknown = valueAt(found, [segment]);
    const key: string | undefined = isItem
      ? Object.keys(within).find((each) => namesItem(each, item, segment))
      : `f:${segment}`;
    const next = key === undefined ? undefined : within[key];
    if (next === undefined) return false;
    within = next;
    found = item;
  }
  return true;
}

function isLeaf(fields: FieldSet): boolean {
  return Object.keys(fields).length === 0;
}

function namesItem(key: string, item: unknown, index: string): boolean {
  if (key === `i:${index}`) return true;
  if (key.startsWith("v:")) return key.slice(2) === JSON.stringify(item);
  if (!key.startsWith("k:") || !isFields(item)) return false;
  const keys = keysOf(key);
  return (
    keys !== undefined &&
    Object.entries(keys).every(
      ([name, value]) => JSON.stringify(item[name]) === JSON.stringify(value),
    )
  );
}

function keysOf(key: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(key.slice(2));
    return isFields(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** A field that a manager other than ours has added. */
export interface AddedField {
  /** A JSON pointer. */
  readonly pointer: string;
  readonly manager: string;
  readonly time?: string | undefined;
}

/** Controllers of every cluster, whose fields are as the API describes them. */
const systemManagers = new Set([
  "kube-controller-manager",
  "kube-scheduler",
  "kube-apiserver",
  "kubelet",
  "cloud-controller-manager",
  "before-first-apply",
]);

/** Fields under `roots` that others have set, that none of our managers has, and that `isDesired` is not true for. */
export function fieldsOfOthers(
  object: unknown,
  roots: readonly string[],
  isDesired: (segments: readonly string[]) => boolean,
): readonly AddedField[] {
  const managers = fieldManagersOf(object);
  const own = managers.filter(isOwnManager).map(({ fields }) => fields);
  const found: AddedField[] = [];
  function descend(by: FieldManager, fields: FieldSet, ours: readonly FieldSet[], at: Place): void {
    for (const [key, inner] of Object.entries(fields)) {
      const place = key === "." ? undefined : step(at, key);
      if (place === undefined) continue;
      const known = ours.flatMap((each) => each[key] ?? []);
      if (known.length > 0 || isDesired(place.segments)) {
        // What is set as a whole is one field.
        if (!known.some(isLeaf)) descend(by, inner, known, place);
        continue;
      }
      const { manager, time } = by;
      found.push({
        pointer: pointerOf(place.segments),
        manager,
        ...(time !== undefined && { time }),
      });
    }
  }
  for (const by of managers) {
    if (isOwnManager(by) || systemManagers.has(by.manager)) continue;
    for (const root of roots) {
      const place = { segments: [root], value: valueAt(object, [root]) };
      const key = `f:${root}`;
      const fields = by.fields[key];
      if (fields !== undefined)
        descend(
          by,
          fields,
          own.flatMap((each) => each[key] ?? []),
          place,
        );
    }
  }
  return found;
}

interface Place {
  readonly segments: readonly string[];
  readonly value: unknown;
}

function step({ segments, value }: Place, key: string): Place | undefined {
  const name = key.startsWith("f:")
    ? key.slice(2)
    : Array.isArray(value)
      ? String(value.findIndex((item, index) => namesItem(key, item, String(index))))
      : "-1";
  const next = valueAt(value, [name]);
  return next === undefined ? undefined : { segments: [...segments, name], value: next };
}
