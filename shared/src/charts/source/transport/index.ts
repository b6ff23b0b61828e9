export { type BodyLimit, beforeDecoding, describeBytes, passBody, readBody } from "./body.ts";
export {
  type ConnectionPools,
  createConnectionPools,
  type ProxySettings,
} from "./connection-pools.ts";
export { fetchByUrl, receiveArchive } from "./download.ts";
export { type EgressPolicy, type Endpoint, isNetwork, networksOf } from "./egress.ts";
export {
  checkHost,
  EgressDenied,
  permittedAddresses,
  type ResolveAll,
} from "./egress-connector.ts";
export { abandon, createExchanger, discard, type Exchange, type Exchanger } from "./exchange.ts";
export { followExtraAuthorities } from "./extra-authorities.ts";
export { describeNetworkFailure, isNotTls, isRefused } from "./network-error.ts";
export { proxySettings } from "./proxy-settings.ts";
export { parseRetryAfter, responseError } from "./response-error.ts";
export { createSharedRequests } from "./shared-requests.ts";
