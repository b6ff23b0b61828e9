/** What is observed of the objects of a release, from the caches of the watched kinds. Pure. */
import type { OwnedObject } from "../../helm/index.ts";
import type { Observation } from "./readiness.ts";
import { isRemovedByDesign } from "./removed-objects.ts";
import type { WatchedKinds, WatchedObject } from "./watched-kinds.ts";

/**
 * The cache is not used before the object itself was read: after Helm has changed it, the watch may be some milliseconds behind,
 * and its cache may still have the earlier object, which was ready. Objects without a status start as read.
 */
export type ReadStage = "unread" | "reading" | "read";

/** An object of a release whose kind was discovered. */
export interface FollowedObject extends WatchedObject {
  stage: ReadStage;
}

export interface FollowedObjects {
  /** All objects of the release. */
  readonly objects: readonly OwnedObject[];
  /** Objects whose kinds were discovered. */
  readonly followed: ReadonlyMap<OwnedObject, FollowedObject>;
  /** Why the kinds of others were not. */
  readonly obstacles: ReadonlyMap<OwnedObject, string>;
}

export interface ObjectObservations {
  readonly observations: readonly Observation[];
  /** The objects that must be read first. */
  readonly unread: readonly FollowedObject[];
  /** All observations are up to date. */
  readonly isComplete: boolean;
}

/** `nowMs`: since 1970. */
export function observe(
  { objects, followed, obstacles }: FollowedObjects,
  kinds: Pick<WatchedKinds, "visibilityOf" | "get" | "lastSeenOf">,
  nowMs: number,
): ObjectObservations {
  const observations: Observation[] = [];
  const unread: FollowedObject[] = [];
  let isComplete = true;
  for (const owned of objects) {
    const object = followed.get(owned);
    if (object === undefined) {
      observations.push({ kind: "unknown", owned, why: obstacles.get(owned) ?? "" });
      continue;
    }
    const visibility = kinds.visibilityOf(object);
    if (visibility.kind === "denied") {
      observations.push({ kind: "unknown", owned, why: visibility.why });
      continue;
    }
    const isListed = visibility.kind === "listed";
    // Not during the first list, which includes it.
    if (isListed && object.stage === "unread") unread.push(object);
    isComplete &&= isListed && object.stage === "read";
    observations.push({
      kind: "known",
      owned,
      resource: object.resource,
      object: kinds.get(object),
      isRemoved: isRemovedByDesign(owned, kinds.lastSeenOf(object), nowMs),
    });
  }
  return { observations, unread, isComplete };
}
