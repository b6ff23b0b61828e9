/**
 * The desired object as a JSON merge patch of the live one: for objects that no server-side apply takes, because a list has two
 * items of one key, or because this Kubernetes does not know a field. The API server takes both as a patch, as it does from Helm's
 * client-side apply. Pure.
 */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { isFields } from "./json-pointer.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What is not in the desired object stays, also in items of lists whose items are the same ones. */
export function mergePatchOf(desired: KubeObject, live: KubeObject): Fields {
  const { apiVersion: _, kind: __, metadata, ...others } = desired;
  const { labels, annotations } = metadata;
  const { resourceVersion } = live.metadata;
  return {
    ...mapPatch(others, fieldsOf(live)),
    metadata: {
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

/** Fields of the live map that are not desired are not in it, so that they stay. */
function mapPatch(desired: Fields, live: Fields): Fields {
  return Object.fromEntries(
    Object.entries(desired).flatMap(([key, value]) => {
      const before = live[key];
      // It is null already, and null in a patch would remove the field.
      if (value === null) return [];
      if (isFields(value)) return [[key, mapPatch(value, isFields(before) ? before : {})]];
      return [[key, Array.isArray(value) ? list(value, before) : value]];
    }),
  );
}

/** A patch replaces lists as a whole. */
function list(desired: readonly unknown[], live: unknown): readonly unknown[] {
  if (!Array.isArray(live) || live.length !== desired.length) return desired;
  const isSame = desired.every((item, index) => isSameItem(item, live[index]));
  return isSame ? desired.map((item, index) => merged(item, live[index])) : desired;
}

/** Items without a name are the same by their position. */
function isSameItem(desired: unknown, live: unknown): boolean {
  return isFields(desired) && isFields(live) && desired["name"] === live["name"];
}

function merged(desired: unknown, live: unknown): unknown {
  if (Array.isArray(desired)) return list(desired, live);
  if (!isFields(desired) || !isFields(live)) return desired;
  const fields = Object.entries(desired).map(([key, value]) => [key, merged(value, live[key])]);
  return { ...live, ...Object.fromEntries(fields) };
}

function fieldsOf(object: KubeObject): Fields {
  return isFields(object) ? object : {};
}
