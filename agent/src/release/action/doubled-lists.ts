/**
 * A patch by the client merges some lists by a key. Where two entries have the same key, such as a variable that is set twice, the
 * patch has another result than the chart says, and where one of the two goes, both are removed. What the lists have to be. Pure.
 */

import { canonicalJson } from "@flotilla/shared/json";
import type { KubeObject } from "@flotilla/shared/kube/objects";

type Fields = Readonly<Record<string, unknown>>;

/** The keys by which Kubernetes merges the lists that accept two entries with the same one, by the name of the list. */
export const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  env: ["name"],
  ports: ["containerPort", "port"],
  containers: ["name"],
  initContainers: ["name"],
  volumes: ["name"],
  volumeMounts: ["mountPath"],
  imagePullSecrets: ["name"],
  hostAliases: ["ip"],
  topologySpreadConstraints: ["topologyKey"],
};

/** Only their lists are merged; lists in objects of other kinds are replaced as a whole. */
const mergedGroups = new Set(["", "apps", "batch"]);

export interface ListRepair {
  readonly op: "add" | "replace";
  /** A JSON pointer. */
  readonly path: string;
  readonly value: readonly unknown[];
}

/** Whether a list that is merged by a key has two entries with the same one. */
export function hasDoubledList(object: KubeObject): boolean {
  return isMerged(object) && hasDoubled(object, "");
}

/**
 * The patch after which the lists of an object are as in the chart. `before`: the object in earlier revisions. Entries that no revision
 * has belong to others, and stay.
 */
export function listRepairs(
  desired: KubeObject,
  live: KubeObject,
  before: readonly KubeObject[],
): readonly ListRepair[] {
  if (!isMerged(desired)) return [];
  return repairsAt({ name: "", path: "" }, desired, live, before);
}

/** Whether lists of an object are merged by the client. */
export function isMerged({ apiVersion = "" }: KubeObject): boolean {
  return mergedGroups.has(apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "");
}

function hasDoubled(value: unknown, name: string): boolean {
  if (Array.isArray(value)) {
    const keys = keysOf(name, value);
    return isDoubled(keys) || value.some((entry) => hasDoubled(entry, ""));
  }
  return isFields(value) && Object.entries(value).some(([key, each]) => hasDoubled(each, key));
}

interface Place {
  /** The name of the field. */
  readonly name: string;
  readonly path: string;
}

function repairsAt(
  { name, path }: Place,
  desired: unknown,
  live: unknown,
  before: readonly unknown[],
): readonly ListRepair[] {
  if (Array.isArray(desired))
    return repairsOfList({ name, path }, desired, Array.isArray(live) ? live : undefined, before);
  if (!isFields(desired) || !isFields(live)) return [];
  return Object.entries(desired).flatMap(([key, value]) =>
    repairsAt(
      { name: key, path: `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}` },
      value,
      live[key],
      before.map((each) => (isFields(each) ? each[key] : undefined)),
    ),
  );
}

function repairsOfList(
  { name, path }: Place,
  desired: readonly unknown[],
  live: readonly unknown[] | undefined,
  before: readonly unknown[],
): readonly ListRepair[] {
  const keys = keysOf(name, desired);
  if (keys === undefined) return [];
  const earlier = before.filter((each) => Array.isArray(each));
  const known = [keys, ...earlier.map((list) => keysOf(name, list) ?? [])];
  if (known.some(isDoubled)) {
    const own = new Set(known.flat());
    const others = (live ?? []).filter((entry) => !own.has(keyOf(name, entry) ?? ""));
    const value = [...desired, ...others];
    if (live !== undefined && covers(live, value)) return [];
    return [{ op: live === undefined ? "add" : "replace", path, value }];
  }
  return desired.flatMap((entry, index) => {
    const key = keys[index];
    const isSame = (each: unknown): boolean => keyOf(name, each) === key;
    const at = live?.findIndex(isSame) ?? -1;
    if (at < 0) return [];
    const place = { name: "", path: `${path}/${at}` };
    return repairsAt(
      place,
      entry,
      live?.[at],
      earlier.map((list) => list.find(isSame)),
    );
  });
}

/** Undefined: the list is not merged by a key. */
function keysOf(name: string, list: readonly unknown[]): readonly string[] | undefined {
  const keys = list.flatMap((entry) => keyOf(name, entry) ?? []);
  return keys.length === list.length && mergeKeys[name] !== undefined ? keys : undefined;
}

function keyOf(name: string, entry: unknown): string | undefined {
  const field = mergeKeys[name]?.find((each) => isFields(entry) && entry[each] !== undefined);
  return field !== undefined && isFields(entry) ? canonicalJson(entry[field]) : undefined;
}

function isDoubled(keys: readonly string[] | undefined): boolean {
  return keys !== undefined && new Set(keys).size < keys.length;
}

/** Whether a value is another one with defaults. */
function covers(live: unknown, desired: unknown): boolean {
  if (Array.isArray(desired))
    return (
      Array.isArray(live) &&
      live.length === desired.length &&
      desired.every((entry, index) => covers(live[index], entry))
    );
  if (isFields(desired))
    return (
      isFields(live) && Object.entries(desired).every(([key, value]) => covers(live[key], value))
    );
  // The API server leaves out what is empty.
  return live === desired || ((desired === null || desired === "") && live === undefined);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
