/**
 * What objects lose before they are kept: fields that only cost memory.
 *
 * An object from a store therefore must not be PUT back on its main path when other people write it too (the
 * annotation of `kubectl apply` would be lost): patch it. PUT to `/status` is safe, it ignores everything else.
 */
import type { KubeObject } from "./object.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

interface Bulky {
  managedFields?: unknown;
  annotations?: Record<string, string>;
}

/** Drops `managedFields` and the annotation that `kubectl apply` leaves. Changes the object in place: it is ours alone yet. */
export function dropBulk<T extends KubeObject>(object: T): T {
  const metadata = object.metadata as Bulky;
  if (metadata.managedFields !== undefined) delete metadata.managedFields;
  if (metadata.annotations?.[lastApplied] !== undefined) delete metadata.annotations[lastApplied];
  return object;
}
