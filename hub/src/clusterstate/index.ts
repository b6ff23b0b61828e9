export {
  clientDigest,
  clusterKeyOfNamespace,
  clusterNamespaceFor,
  enrolmentAnnotations,
  hasNamespace,
  isEnrolmentOutdated,
  type RemovedClient,
  removedClientOf,
} from "./cluster-namespace.ts";
export { isBeingEmptied, isToBeEmptied, mayWithdraw } from "./deletion.ts";
export { offlineCheck, offlineSince, presenceOf } from "./presence.ts";
export { createdAtOf, revocationOf, revokedText } from "./revocation.ts";
