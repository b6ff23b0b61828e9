/**
 * What objects lose before they are kept: fields that only cost memory.
 *
 * An object from a store therefore must not be PUT back on its main path when other people write it too (the
 * annotation of `kubectl apply` would be lost): patch it. PUT to `/status` is safe, it ignores everything else.
 */
import type { KubeObject } from "../objects/object.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

interface Bulky {
  readonly managedFields?: unknown;
}

/** Leaves out `managedFields` and the annotation that `kubectl apply` leaves: an object without what was deleted is the larger one. */
export function dropBulk<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata }: T["metadata"] & Bulky = object.metadata;
  const { [lastApplied]: noted, ...annotations } = metadata.annotations ?? {};
  if (managedFields === undefined && noted === undefined) return object;
  return {
    ...object,
    metadata: { ...metadata, ...(noted !== undefined && { annotations }) },
  };
}
