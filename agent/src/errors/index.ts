export { agentErrors, bootstrapSecretName, wrongHub } from "./agent-errors.ts";
