export {
  type AccountWatch,
  createAccountWatches,
  isUsable,
  type Observation,
} from "./account-watches.ts";
export { agentGrants } from "./chart-grants.ts";
export {
  createImpersonatedClients,
  type ImpersonatedClient,
  type ImpersonatedClients,
} from "./impersonated-clients.ts";
export { impersonatedUser } from "./impersonation-args.ts";
export { type WatchClient, watchedNamespace, watchKey } from "./watch-client.ts";
