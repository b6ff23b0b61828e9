/** A Secret or ConfigMap of the hub as it is to be in a release's namespace, and what is to be done for that. Pure. */

import { canonicalJson } from "@flotilla/shared/json/exact.ts";
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";
import type { SupplyObject, SupplyRef } from "@flotilla/shared/supply/supply.ts";

/** Who has it copied; Fleet's own label. */
export const copyLabel = "fleet.cattle.io/bundledeployment";

/** The fields of a Secret and of a ConfigMap. */
export interface CopyObject extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface Copy {
  readonly ref: SupplyRef;
  readonly object: SupplyObject;
}

export type CopyStep =
  | { readonly kind: "none" }
  | { readonly kind: "create"; readonly object: CopyObject }
  | { readonly kind: "replace"; readonly object: CopyObject }
  /** A Secret's type never changes, nor anything of what is immutable. */
  | { readonly kind: "make anew"; readonly object: CopyObject; readonly before: CopyObject };

/** `existing`: of those that were copied here. Labels and annotations that others have added to it stay. */
export function planCopy(
  { ref, object }: Copy,
  existing: CopyObject | undefined,
  { namespace, owner }: { readonly namespace: string; readonly owner: string },
): CopyStep {
  const { labels, annotations, type = "Opaque", data, binaryData } = object;
  const wanted: CopyObject = {
    apiVersion: "v1",
    kind: ref.kind,
    metadata: {
      namespace,
      name: ref.name,
      labels: { ...existing?.metadata.labels, ...labels, [copyLabel]: owner },
      annotations: { ...existing?.metadata.annotations, ...annotations },
    },
    ...(data !== undefined && { data }),
    ...(binaryData !== undefined && { binaryData }),
    ...(ref.kind === "Secret" && { type }),
  };
  if (existing === undefined) return { kind: "create", object: wanted };
  if (isSame(existing, wanted)) return { kind: "none" };
  if (
    existing.type !== wanted.type ||
    (existing.immutable === true && !hasSameContent(existing, wanted))
  )
    return { kind: "make anew", object: wanted, before: existing };
  const { resourceVersion } = existing.metadata;
  return {
    kind: "replace",
    object: {
      ...wanted,
      ...(existing.immutable !== undefined && { immutable: existing.immutable }),
      metadata: { ...wanted.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
    },
  };
}

function isSame(a: CopyObject, b: CopyObject): boolean {
  return (
    hasSameContent(a, b) &&
    canonicalJson([a.metadata.labels ?? {}, a.metadata.annotations ?? {}]) ===
      canonicalJson([b.metadata.labels ?? {}, b.metadata.annotations ?? {}])
  );
}

function hasSameContent(a: CopyObject, b: CopyObject): boolean {
  const content = ({ type, data, binaryData }: CopyObject) =>
    canonicalJson([type ?? "", data ?? {}, binaryData ?? {}]);
  return content(a) === content(b);
}
