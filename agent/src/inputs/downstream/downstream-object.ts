/** The desired form of a downstream resource, and what is to be done to reach it. Pure. */

import type { ObjectRef } from "@flotilla/shared/api";
import { canonicalJson } from "@flotilla/shared/json";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";

/** The deployment that owns a downstream resource; Fleet's own label. */
export const downstreamLabel = "fleet.cattle.io/bundledeployment";

/** The fields of a Secret and of a ConfigMap. */
export interface DownstreamObject extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** A Secret or ConfigMap of the hub that is copied into the namespace of a release. */
export interface DownstreamResource {
  /** As it is called in the cluster. */
  readonly ref: ObjectRef;
  /** The object of the hub, where that is in another namespace than the Cluster; absent: `ref`. */
  readonly source?: ObjectRef;
  readonly object: ReferencedObjectData;
}

export type DownstreamPlan =
  | { readonly kind: "none" }
  | { readonly kind: "create"; readonly object: DownstreamObject }
  | { readonly kind: "replace"; readonly object: DownstreamObject }
  /** The type of a Secret cannot be changed, nor the data of an immutable object. */
  | {
      readonly kind: "recreate";
      readonly object: DownstreamObject;
      readonly before: DownstreamObject;
    };

/** `existing`: one that the agent created. Labels and annotations that others have added to it stay. */
export function planDownstreamResource(
  { ref, object }: DownstreamResource,
  existing: DownstreamObject | undefined,
  { namespace, owner }: { readonly namespace: string; readonly owner: string },
): DownstreamPlan {
  const { labels, annotations, type = "Opaque", data, binaryData } = object;
  const desired: DownstreamObject = {
    apiVersion: "v1",
    kind: ref.kind,
    metadata: {
      namespace,
      name: ref.name,
      labels: { ...existing?.metadata.labels, ...labels, [downstreamLabel]: owner },
      annotations: { ...existing?.metadata.annotations, ...annotations },
    },
    ...(data !== undefined && { data }),
    ...(binaryData !== undefined && { binaryData }),
    ...(ref.kind === "Secret" && { type }),
  };
  if (existing === undefined) return { kind: "create", object: desired };
  if (isSame(existing, desired)) return { kind: "none" };
  if (
    existing.type !== desired.type ||
    (existing.immutable === true && !hasSameData(existing, desired))
  )
    return { kind: "recreate", object: desired, before: existing };
  const { resourceVersion } = existing.metadata;
  return {
    kind: "replace",
    object: {
      ...desired,
      ...(existing.immutable !== undefined && { immutable: existing.immutable }),
      metadata: { ...desired.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
    },
  };
}

function isSame(a: DownstreamObject, b: DownstreamObject): boolean {
  return (
    hasSameData(a, b) &&
    canonicalJson([a.metadata.labels ?? {}, a.metadata.annotations ?? {}]) ===
      canonicalJson([b.metadata.labels ?? {}, b.metadata.annotations ?? {}])
  );
}

function hasSameData(a: DownstreamObject, b: DownstreamObject): boolean {
  const dataOf = ({ type, data, binaryData }: DownstreamObject) =>
    canonicalJson([type ?? "", data ?? {}, binaryData ?? {}]);
  return dataOf(a) === dataOf(b);
}
