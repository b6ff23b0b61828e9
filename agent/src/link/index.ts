export {
  createHubConnection,
  type HubConnection,
  type HubConnectionDeps,
} from "./connection/hub-connection.ts";
export { createVersionReader } from "./connection/kubernetes-version.ts";
export { runSession } from "./connection/session.ts";
export { createAnswers } from "./requests/answers.ts";
export type { AnswerRequest } from "./requests/open-requests.ts";
