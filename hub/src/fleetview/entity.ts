/** What may change in the fleet, as a text by which changes of the same entity are found. Pure. */
import type { AppRef, ClusterRef, FleetSource } from "@flotilla/shared/dashboard";
import type { ObjectKey } from "@flotilla/shared/kube/objects";

export type Entity =
  | { readonly of: "app"; readonly ref: AppRef }
  | { readonly of: "cluster"; readonly ref: ClusterRef }
  | { readonly of: "source"; readonly ref: Pick<FleetSource, "kind" | "namespace" | "name"> }
  | { readonly of: "release"; readonly bundle: ObjectKey; readonly cluster: ObjectKey }
  | { readonly of: "event"; readonly key: ObjectKey };

export function formatEntity(entity: Entity): string {
  return JSON.stringify(entity);
}

/** Of a text of `formatEntity` alone. */
export function parseEntity(text: string): Entity {
  return JSON.parse(text) as Entity;
}
