/** An object of a release as Helm applies it, from the manifest. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { isFields, replacedAt, segmentsOf, valueAt } from "./json-pointer.ts";

export interface ReleaseRef {
  readonly namespace: string;
  readonly name: string;
}

/** `namespace`: of the object; undefined for one without. */
export function desiredObject(
  document: KubeObject,
  namespace: string | undefined,
  release: ReleaseRef,
): KubeObject {
  const { metadata } = document;
  const { namespace: _, ...others } = metadata;
  return withEncodedData({
    ...withoutStatus(document),
    metadata: {
      ...others,
      ...(namespace !== undefined && { namespace }),
      // Helm sets them on everything that it applies, and does not store them.
      labels: { ...metadata.labels, "app.kubernetes.io/managed-by": "Helm" },
      annotations: {
        ...metadata.annotations,
        "meta.helm.sh/release-name": release.name,
        "meta.helm.sh/release-namespace": release.namespace,
      },
    },
  });
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
