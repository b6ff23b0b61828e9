/** A Secret or ConfigMap of a workspace as it is handed out. Pure. */
import type { ObjectRefKind } from "@flotilla/proto/messages.ts";
import type { Packed } from "@flotilla/shared/content/packed.ts";
import type { ConfigMap, Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { ReferencedObjectData } from "@flotilla/shared/referenced/referenced-object.ts";

/** What is known of an object of a workspace. */
export type WorkspaceObject =
  /** It was not looked at yet, or could not be. */
  | { readonly kind: "unknown" }
  | { readonly kind: "absent" }
  | {
      readonly kind: "present";
      readonly digest: string;
      readonly packed: Packed;
      readonly object: ReferencedObjectData;
    };

/** What is kept of either kind. */
export type Kept = Secret & ConfigMap;

/** Types of Secrets that are large, many, and nobody's to hand out: Helm's own records, and Fleet's. */
const foreignTypes = ["helm.sh/release.v1", "fleet.cattle.io/bundle-values/v1alpha1"];

/** Which objects of a namespace are watched. */
export function watchedFields(kind: ObjectRefKind): string | undefined {
  return kind === "Secret" ? foreignTypes.map((type) => `type!=${type}`).join(",") : undefined;
}

/** Enough to know that it is there, and as which version. */
export function withoutContent({ metadata }: Kept): Kept {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

/** What of it is handed out. */
export function supplyObjectOf({ metadata, type, data, binaryData }: Kept): ReferencedObjectData {
  const { labels, annotations } = metadata;
  return {
    ...(type !== undefined && { type }),
    ...(hasAny(data) && { data }),
    ...(hasAny(binaryData) && { binaryData }),
    ...(hasAny(labels) && { labels }),
    ...(hasAny(annotations) && { annotations }),
  };
}

function hasAny(
  texts: Readonly<Record<string, string>> | undefined,
): texts is Readonly<Record<string, string>> {
  return texts !== undefined && Object.keys(texts).length > 0;
}
