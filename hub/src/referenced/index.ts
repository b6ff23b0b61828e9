export type { ProjectSecret } from "./object-entries.ts";
export { planReferencedObject, planReferencedObjects, type ReferencedPlan } from "./plan.ts";
export {
  changedReferences,
  clusterInfoOf,
  isClusterInfoChange,
  onHub,
  watchReferences,
  workspacesOf,
} from "./references.ts";
export type { WorkspaceObject } from "./workspace-object.ts";
export { createWorkspaceObjects, type WorkspaceObjects } from "./workspace-objects.ts";
