export { runOrphanedAgents } from "./orphaned-agents.ts";
export { createReplica, type Replica } from "./replica.ts";
