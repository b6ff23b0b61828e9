/** An object of a release as Helm applies it, from the manifest. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { ownershipMarks } from "../../helm/index.ts";
import { isFields, replacedAt, segmentsOf, valueAt } from "./json-pointer.ts";

export interface ReleaseRef {
  readonly namespace: string;
  readonly name: string;
}

/**
 * `namespace`: of the object; undefined for one without. `live`: the object that it is applied to, if there is one: where that has null,
 * too, null stays.
 */
export function desiredObject(
  document: KubeObject,
  namespace: string | undefined,
  release: ReleaseRef,
  live?: KubeObject,
): KubeObject {
  const { metadata } = document;
  const { namespace: _, ...others } = metadata;
  const marks = ownershipMarks(release);
  return withEncodedData({
    ...withoutNulls(withoutStatus(document), live),
    metadata: {
      ...withoutNulls(others),
      ...(namespace !== undefined && { namespace }),
      // Helm does not store them.
      labels: { ...withoutNulls(metadata.labels), ...marks.labels },
      annotations: { ...withoutNulls(metadata.annotations), ...marks.annotations },
    },
  });
}

/**
 * A field without a value is not the chart's: an apply of null would own the field with its default, so that the replicas of an autoscaler
 * would be taken for drift. Objects of other kinds than Kubernetes' own may store null, and an apply without it would remove it.
 */
function withoutNulls<T>(value: T, live?: unknown): T {
  if (Array.isArray(value))
    return value.map((item, index) => withoutNulls(item, valueAt(live, [String(index)]))) as T;
  if (!isFields(value)) return value;
  const kept = Object.entries(value).flatMap(([key, field]) => {
    const stored = valueAt(live, [key]);
    return field === null && stored !== null ? [] : [[key, withoutNulls(field, stored)]];
  });
  return Object.fromEntries(kept) as T;
}

function withoutStatus(object: KubeObject): KubeObject {
  const { status: _, ...others }: KubeObject & { readonly status?: unknown } = object;
  return others;
}

/** The API server never returns `stringData`, so a removed key of it would not be seen. */
function withEncodedData(
  object: KubeObject & { readonly data?: unknown; readonly stringData?: unknown },
): KubeObject {
  const { stringData, ...others } = object;
  if (object.kind !== "Secret" || !isFields(stringData)) return object;
  const encoded = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(typeof text === "string" ? text : "").toString("base64"),
  ]);
  const data = { ...(isFields(others.data) ? others.data : {}), ...Object.fromEntries(encoded) };
  const stored: KubeObject & { readonly data: unknown } = { ...others, data };
  return stored;
}

/** With what the object has at these places, so that applying it changes nothing there. */
export function withLiveValues(
  desired: KubeObject,
  live: KubeObject,
  pointers: readonly string[],
): KubeObject {
  return pointers.reduce((object, pointer) => {
    const segments = segmentsOf(pointer);
    if (valueAt(object, segments) === undefined) return object;
    // Still an object with metadata: "" is not applied at all, and names are not changed.
    const changed = replacedAt(object, segments, valueAt(live, segments)) as KubeObject;
    return { ...changed, metadata: { ...changed.metadata, name: desired.metadata.name } };
  }, desired);
}
