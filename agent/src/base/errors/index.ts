export { agentErrors } from "./agent-errors.ts";
