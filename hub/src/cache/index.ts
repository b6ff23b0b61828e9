export { type AppObjects, appInformers } from "./app-informers.ts";
export { type Caches, cachesSynced, createCaches, refreshCaches, runCaches } from "./caches.ts";
export type { ControllerDeps } from "./deps.ts";
export {
  agentKeyIndex,
  anyClientIdIndex,
  byNamedCluster,
  clientIdIndex,
  clientIdKey,
  enrolledWithIndex,
  tokenUidIndex,
} from "./enrolment-indexes.ts";
export { createFluxCaches, type FluxCaches, type FluxInformers } from "./flux-caches.ts";
export {
  byBundle,
  byClusterNamespace,
  byContent,
  byDigest,
  byReferencedObject,
  byReplica,
  bySourceReport,
  contentsReferredBy,
  referencedObjectsOf,
  usedObjectsOf,
} from "./indexes.ts";
export {
  bundleKeyOf,
  clusterKeyOf,
  contentDigestOf,
  contentLabel,
  isForCluster,
  targetedNamespace,
  userFields,
} from "./keys.ts";
