export {
  createHubConnection,
  type HubConnection,
  type HubConnectionDeps,
} from "./hub-connection.ts";
export { runSession } from "./session.ts";
