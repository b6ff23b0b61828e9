export { connectKube } from "./connect.ts";
export { isConnectionFailure } from "./dispatch.ts";
export { kubeErrors } from "./errors.ts";
export type { Impersonation, KubeConfig } from "./kubeconfig.ts";
export { type Listed, listAll, type Selection } from "./list-all.ts";
export { loadKubeconfig } from "./load-kubeconfig.ts";
export { explainDenials, type GrantOf } from "./missing-right.ts";
export { describeKind } from "./request-path.ts";
export type { CallOptions, KubeConnection, KubeRest, WatchEvent, WriteOptions } from "./rest.ts";
export {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isNamespaceTerminating,
  isNotFound,
  isTooManyRequests,
  KubeStatusError,
} from "./status-error.ts";
export { isResponseTooLarge, responseTooLarge } from "./transport.ts";
