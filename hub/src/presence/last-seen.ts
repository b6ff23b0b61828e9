/** Times that people read of an agent. Pure. */
import type { ClusterAgent } from "@flotilla/shared/api/cluster.ts";

/** RFC 3339, to the second. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** When an agent that is not there was last known to be: what is heard of its replica, but not before it came. */
export function lastSeen(agent: ClusterAgent, heard: string): string {
  const [came, last] = [Date.parse(agent.lastSeen ?? ""), Date.parse(heard)];
  if (Number.isNaN(last)) return agent.lastSeen ?? "";
  return toTime(Number.isNaN(came) ? last : Math.max(came, last));
}
