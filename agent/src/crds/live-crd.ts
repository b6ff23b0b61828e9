/**
 * What is to be changed of a CustomResourceDefinition in the cluster. Pure.
 *
 * What a newer version of a chart does not contain any more Helm deletes unless the *live* object has the annotation. It is
 * applied as a field manager of our own, so that it can be taken away again, and only where nobody else has set it.
 */
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";
import { z } from "zod";
import { keepPolicy, policyAnnotation } from "./crd-documents.ts";

/** As which annotations are applied. */
export const crdFieldManager = "flotilla-crds";

/** All annotations that our field manager is to have applied. */
export type OwnAnnotations = Readonly<Record<string, string>>;

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
export function policyChange(
  crd: KubeObject,
  keep: boolean,
  release: Place,
): OwnAnnotations | undefined {
  const { annotations = {} } = crd.metadata;
  const { own, others } = managedAnnotations(crd);
  const isOurs = own.has(policyAnnotation);
  const isToStay = keep
    ? isOurs || annotations[policyAnnotation] === undefined
    : isOurs && !isOf(crd, release);
  // Since it was handed over Helm has applied its release itself, and may do so again with another.
  const handedOver = Object.entries(annotations).filter(
    ([name]) => name !== policyAnnotation && own.has(name) && !others.has(name),
  );
  const wanted = {
    ...Object.fromEntries(handedOver),
    ...(isToStay && { [policyAnnotation]: keepPolicy }),
  };
  const names = Object.keys(wanted);
  return names.length === own.size && names.every((name) => own.has(name)) ? undefined : wanted;
}

/** Gives it to another release, which Helm otherwise does not let have it. Undefined when it is not the first one's. */
export function handOver(crd: KubeObject, from: Place, to: Place): OwnAnnotations | undefined {
  if (!isOf(crd, from)) return undefined;
  const isKept = managedAnnotations(crd).own.has(policyAnnotation);
  return {
    ...(isKept && { [policyAnnotation]: keepPolicy }),
    [ownerName]: to.name,
    [ownerNamespace]: to.namespace,
  };
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

interface ManagedAnnotations {
  readonly own: ReadonlySet<string>;
  readonly others: ReadonlySet<string>;
}

/** The names of those that we have applied, and of those that anybody else has set. */
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
