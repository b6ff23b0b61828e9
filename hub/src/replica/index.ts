export { addressOf } from "./lease.ts";
export { runOrphanedAgents } from "./orphaned-agents.ts";
export { createReplica, type Replica } from "./replica.ts";
