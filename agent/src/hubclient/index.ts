export { describeSessionEnd } from "./call-error.ts";
export {
  type ConnectHub,
  createHubConnector,
  type HubClient,
  type HubStream,
} from "./hub-client.ts";
