export { type AppObjects, appInformers } from "./cache/app-informers.ts";
export {
  type Caches,
  cachesSynced,
  createCaches,
  refreshCaches,
  runCaches,
} from "./cache/caches.ts";
export type { ControllerDeps } from "./cache/deps.ts";
export {
  agentKeyIndex,
  anyClientIdIndex,
  byNamedCluster,
  clientIdIndex,
  clientIdKey,
  enrolledWithIndex,
  tokenUidIndex,
} from "./cache/enrolment-indexes.ts";
export { createFluxCaches, type FluxCaches, type FluxInformers } from "./cache/flux-caches.ts";
export {
  awaitsRollouts,
  byAwaiting,
  byBundle,
  byClusterNamespace,
  byContent,
  byDigest,
  byManagement,
  byPinnedContent,
  byReferencedObject,
  byReplica,
  byRolledOutBundle,
  byRolloutNamespace,
  byRolloutPolicy,
  bySourceReport,
  contentsPinnedBy,
  contentsReferredBy,
  managedElsewhere,
  referencedObjectsOf,
  usedObjectsOf,
} from "./cache/indexes.ts";
export {
  bundleKeyOf,
  clusterKeyOf,
  contentDigestOf,
  contentLabel,
  isForCluster,
  targetedNamespace,
  userFields,
} from "./cache/keys.ts";
export { createTextSharing } from "./cache/shared-texts.ts";
export {
  chooseNamespace,
  clientDigest,
  clusterKeyOfNamespace,
  clusterNamespaceFor,
  clusterNamespaceKeys,
  clusterNamespaceNames,
  clusterNamespaceOf,
  enrolmentAnnotations,
  hasNamespace,
  isEnrolmentOutdated,
  type NamespaceChoice,
  type RemovedClient,
  removedClientOf,
  type TakenNamespace,
} from "./clusterstate/cluster-namespace.ts";
export { isCreatedByHub, isForeign } from "./clusterstate/created-namespace.ts";
export { isBeingEmptied, isToBeEmptied, mayWithdraw } from "./clusterstate/deletion.ts";
export { managedElsewhereText } from "./clusterstate/management.ts";
export { offlineCheck, offlineSince, presenceOf } from "./clusterstate/presence.ts";
export { createdAtOf, revocationOf, revokedText } from "./clusterstate/revocation.ts";
export { createHubEgress } from "./egress/hub-egress.ts";
export { hubErrors } from "./errors/hub-errors.ts";
export { createChartReader, type ReadChart } from "./reader/chart-reader.ts";
export { createPublisher, type Publisher, type PublisherOptions } from "./status/publisher.ts";
export { isUrgentChange } from "./status/urgency.ts";
