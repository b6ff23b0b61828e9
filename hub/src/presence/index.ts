export { lastSeen, writeAgentStatus } from "./agent-status.ts";
export { runPresenceController } from "./controller.ts";
export { type EpochFloorOf, highestEpoch } from "./epoch.ts";
export { createPresence, type Presence } from "./presence.ts";
