/** Which changes of a source concern the HelmReleases that are made from it. Pure. */

import { findCondition } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { Change } from "@flotilla/shared/kube/cache";
import { isUsable, type SourceObject } from "../../sources/index.ts";

/**
 * Whether the source says what it has for its present spec. While it is being read, HelmReleases stay as they are: in Flux a source
 * concerns them when its revision changes or it becomes Ready.
 */
export function isSettled({ after }: Change<SourceObject>): boolean {
  if (after === undefined || isUsable(after)) return true;
  const ready = findCondition(after.status?.conditions, fluxType.ready);
  return (
    ready !== undefined &&
    ready.status !== "Unknown" &&
    ready.observedGeneration === after.metadata.generation
  );
}

/** Whether the source was read for another spec, so that it may be accessed with another Secret. */
export function isReadAgain({ before, after }: Change<SourceObject>): boolean {
  if (before === undefined || after === undefined || !isUsable(after)) return false;
  return !isUsable(before) || before.metadata.generation !== after.metadata.generation;
}
