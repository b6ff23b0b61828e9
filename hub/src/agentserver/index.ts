export { type AgentServer, type AgentServerOptions, createAgentServer } from "./agent-server.ts";
