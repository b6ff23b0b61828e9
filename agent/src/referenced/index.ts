export { chartAccess } from "./chart-access.ts";
export { type ClusterInfoStore, createClusterInfoStore } from "./cluster-info.ts";
export { createReferencedObjects, type ReferencedObjects } from "./referenced-objects.ts";
export {
  deletedOnHubWarning,
  type ReferencedDeps,
  type ReferenceUse,
  requireObject,
} from "./require-object.ts";
export { createWithdrawnObjects, type WithdrawnObjects } from "./withdrawn-objects.ts";
