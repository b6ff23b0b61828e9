/**
 * What is to be changed of a CustomResourceDefinition in the cluster. Pure.
 *
 * What a newer version of a chart does not contain any more Helm deletes unless the *live* object has the annotation. So
 * that it can be taken away again, and only where nobody else has set it, we write as a field manager of our own.
 */
import type { KubeObject } from "@flotilla/shared/kube/object.ts";
import { z } from "zod";
import { keepPolicy, policyAnnotation } from "./crd-documents.ts";

/** As which the annotation is written. */
export const crdFieldManager = "flotilla-crds";

/** The body of a merge patch: null takes something away. */
export interface CrdPatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> };
}

/** Where a release is. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

const ownerName = "meta.helm.sh/release-name";
const ownerNamespace = "meta.helm.sh/release-namespace";

/**
 * Undefined when nothing is to be changed: it says already what becomes of it, or somebody else has said so. Whoever it
 * belongs to it may stay, since Helm does not ask for that before it deletes; it may go only with its own release.
 */
export function policyPatch(crd: KubeObject, keep: boolean, release: Place): CrdPatch | undefined {
  const isThere = crd.metadata.annotations?.[policyAnnotation] !== undefined;
  if (keep) return isThere ? undefined : patchOf({ [policyAnnotation]: keepPolicy });
  return isThere && isOurs(crd) && isOf(crd, release)
    ? patchOf({ [policyAnnotation]: null })
    : undefined;
}

/** Gives it to another release, which Helm otherwise does not let have it. Undefined when it is not the first one's. */
export function handOverPatch(crd: KubeObject, from: Place, to: Place): CrdPatch | undefined {
  return isOf(crd, from)
    ? patchOf({ [ownerName]: to.name, [ownerNamespace]: to.namespace })
    : undefined;
}

function patchOf(annotations: CrdPatch["metadata"]["annotations"]): CrdPatch {
  return { metadata: { annotations } };
}

function isOf({ metadata: { annotations } }: KubeObject, { namespace, name }: Place): boolean {
  return annotations?.[ownerName] === name && annotations[ownerNamespace] === namespace;
}

const managedSchema = z.object({
  managedFields: z.array(
    z.object({
      manager: z.string().optional(),
      fieldsV1: z
        .object({ "f:metadata": z.object({ "f:annotations": z.looseObject({}) }) })
        .optional()
        .catch(undefined),
    }),
  ),
});

/** Whether the annotation is there because we have written it. */
function isOurs({ metadata }: KubeObject): boolean {
  const managed = managedSchema.safeParse(metadata).data?.managedFields ?? [];
  return managed.some(
    ({ manager, fieldsV1 }) =>
      manager === crdFieldManager &&
      `f:${policyAnnotation}` in (fieldsV1?.["f:metadata"]["f:annotations"] ?? {}),
  );
}
