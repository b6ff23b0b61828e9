export { wrongHub } from "./errors/agent-errors.ts";
export {
  type AccountWatch,
  createAccountWatches,
  isUsable,
  type WatchScope,
} from "./impersonation/account-watches.ts";
export { agentGrants } from "./impersonation/chart-grants.ts";
export {
  createImpersonatedClients,
  type ImpersonatedClient,
  type ImpersonatedClients,
} from "./impersonation/impersonated-clients.ts";
export { impersonatedUser } from "./impersonation/impersonation-args.ts";
export { type WatchClient, watchedNamespace, watchKey } from "./impersonation/watch-client.ts";
export { LimitError } from "./process/limit-error.ts";
export { createLimitRecords, type LimitRecords } from "./process/limit-records.ts";
export { limitsWithChildren, processLimits } from "./process/limits.ts";
export { createSecretStorage, type SecretStorage } from "./storage/secret-storage.ts";
