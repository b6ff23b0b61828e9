/** What holds for every object that is deleted to be created again, because the API server refuses to change it. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { helmFieldManager } from "../../helm/index.ts";
import type { Deletion } from "./delete-object.ts";
import { withoutAllocations } from "./service-allocations.ts";

/** With them goes what cannot be created again: data, and everything that is in a namespace or of a kind. */
const keptKinds = new Set([
  "PersistentVolumeClaim",
  "PersistentVolume",
  "Namespace",
  "CustomResourceDefinition",
]);

/** Whether no object of the kind is ever deleted for it. */
export function isKept(kind: string): boolean {
  return keptKinds.has(kind);
}

/** A StatefulSet leaves its pods, and the new one takes them over. */
export function propagationOf(kind: string): Deletion["propagation"] {
  return kind === "StatefulSet" ? "Orphan" : "Background";
}

/** Throws why the API server would not create the object: by a dry run under a name that is free. */
export async function checkCreation(
  rest: KubeRest,
  resource: Resource<KubeObject>,
  desired: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { name: _, ...metadata } = desired.metadata;
  const copy = {
    ...withoutAllocations(desired),
    metadata: { ...metadata, name: "flotilla-check" },
  };
  await rest.create(resource, copy, { dryRun: true, fieldManager: helmFieldManager, signal });
}
