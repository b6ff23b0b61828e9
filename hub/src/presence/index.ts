export { lastSeen, writeAgentStatus } from "./agent-status.ts";
export { runPresenceController } from "./controller.ts";
export { presenceErrors } from "./errors.ts";
export { createPresence, type Presence } from "./presence.ts";
