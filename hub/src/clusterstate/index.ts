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
} from "./cluster-namespace.ts";
export { isCreatedByHub, isForeign } from "./created-namespace.ts";
export { isBeingEmptied, isToBeEmptied, mayWithdraw } from "./deletion.ts";
export { managedElsewhereText } from "./management.ts";
export { offlineCheck, offlineSince, presenceOf } from "./presence.ts";
export { createdAtOf, revocationOf, revokedText } from "./revocation.ts";
