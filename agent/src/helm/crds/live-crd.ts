/**
 * The annotations of a CustomResourceDefinition in the cluster. Pure.
 *
 * Helm deletes an object that the chart's new version does not contain, unless the *live* object has the annotation
 * `helm.sh/resource-policy: keep`. The agent applies it with its own field manager, so that it can remove it again, and
 * only if no other field manager has set it.
 */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import type { ReleaseKey } from "../cli/release-record.ts";
import { keepPolicy, policyAnnotation } from "../record/crd-documents.ts";

/** Manages the annotations. */
export const crdFieldManager = "flotilla-crds";

/** All annotations of our field manager. */
export type OwnAnnotations = Readonly<Record<string, string>>;

const ownerName = "meta.helm.sh/release-name";
const ownerNamespace = "meta.helm.sh/release-namespace";

/**
 * Undefined if nothing changes: the definition has the policy already, or another field manager has set it. A definition of
 * another release may be kept as well, because Helm deletes it without checking its owner; it may be deleted only with its
 * own release.
 */
export function policyChange(
  crd: KubeObject,
  keep: boolean,
  release: ReleaseKey,
): OwnAnnotations | undefined {
  const { annotations = {} } = crd.metadata;
  const { own, others } = managedAnnotations(crd);
  const isOwn = own.has(policyAnnotation);
  const mustStay = keep
    ? isOwn || annotations[policyAnnotation] === undefined
    : isOwn && !isOf(crd, release);
  // Annotations of an ownership transfer, until Helm has applied them itself.
  const transferred = Object.entries(annotations).filter(
    ([name]) => name !== policyAnnotation && own.has(name) && !others.has(name),
  );
  const desired = {
    ...Object.fromEntries(transferred),
    ...(mustStay && { [policyAnnotation]: keepPolicy }),
  };
  const names = Object.keys(desired);
  return names.length === own.size && names.every((name) => own.has(name)) ? undefined : desired;
}

/** Makes another release the owner; Helm otherwise rejects it there. Undefined if `from` is not the current owner. */
export function transferOwnership(
  crd: KubeObject,
  from: ReleaseKey,
  to: ReleaseKey,
): OwnAnnotations | undefined {
  if (!isOf(crd, from)) return undefined;
  const isKept = managedAnnotations(crd).own.has(policyAnnotation);
  return {
    ...(isKept && { [policyAnnotation]: keepPolicy }),
    [ownerName]: to.name,
    [ownerNamespace]: to.namespace,
  };
}

function isOf({ metadata: { annotations } }: KubeObject, { namespace, name }: ReleaseKey): boolean {
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

interface ManagedAnnotations {
  readonly own: ReadonlySet<string>;
  readonly others: ReadonlySet<string>;
}

/** The names of the annotations by field manager: ours, and all others. */
function managedAnnotations({ metadata }: KubeObject): ManagedAnnotations {
  const own = new Set<string>();
  const others = new Set<string>();
  for (const { manager, fieldsV1 } of managedSchema.safeParse(metadata).data?.managedFields ?? []) {
    const names = manager === crdFieldManager ? own : others;
    for (const field of Object.keys(fieldsV1?.["f:metadata"]["f:annotations"] ?? {})) {
      if (field.startsWith("f:")) names.add(field.slice("f:".length));
    }
  }
  return { own, others };
}
