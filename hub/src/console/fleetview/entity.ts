/** What may change in the fleet, as a text: changes of the same entity have the same one. Pure. */
import type { AppRef, ClusterRef, FleetSource } from "@flotilla/shared/dashboard";
import type { ObjectKey } from "@flotilla/shared/kube/objects";

export type Entity =
  | { readonly of: "app"; readonly ref: AppRef }
  | { readonly of: "cluster"; readonly ref: ClusterRef }
  | { readonly of: "source"; readonly ref: Pick<FleetSource, "kind" | "namespace" | "name"> }
  | {
      readonly of: "release";
      /** The app of the Bundle, which may be gone when the change is read. */
      readonly app: AppRef;
      readonly bundle: ObjectKey;
      readonly cluster: ObjectKey;
    }
  /** Schedules of a namespace. */
  | { readonly of: "schedules"; readonly namespace: string }
  | { readonly of: "event"; readonly key: ObjectKey };

export function formatEntity(entity: Entity): string {
  return JSON.stringify(entity);
}

/** The inverse of `formatEntity`. */
export function parseEntity(text: string): Entity {
  return JSON.parse(text) as Entity;
}
