export { deleteObject } from "./delete-object.ts";
export { changedFields, type DriftText, describeDrift } from "./describe-drift.ts";
export { desiredObject } from "./desired-object.ts";
export type { DriftEvent, ObjectDrift } from "./drift.ts";
export {
  createDriftTracker,
  type DriftInput,
  type DriftTracker,
} from "./drift-tracker.ts";
export { checkCreation, isKept, propagationOf } from "./recreation.ts";
export type { ReleaseDrift } from "./release-drift.ts";
