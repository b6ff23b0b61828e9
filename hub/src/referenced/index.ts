export type { ProjectSecret } from "./object-entries.ts";
export {
  planReferencedObject,
  planReferencedObjects,
  type ReferencedPlan,
  type ReferencedSource,
  type References,
} from "./plan.ts";
export {
  changedReferences,
  clusterInfoOf,
  isAnother,
  isClusterInfoChange,
  onHub,
  watchReferences,
} from "./references.ts";
export { createSentObject } from "./sent-object.ts";
export { createWatchedObjects } from "./watch-objects.ts";
export { isUsableByTenants, type WorkspaceObject } from "./workspace-object.ts";
export { WorkspaceObjects } from "./workspace-objects.ts";
