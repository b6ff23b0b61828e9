export { agentErrors, wrongHub } from "./agent-errors.ts";
