/**
 * What an agent says that it can do when it connects, beyond the version of the protocol: a newer hub asks older agents only for what
 * they know.
 */
export const agentCapabilities = [
  /** It reports what a request to reconcile has come to. */
  "RequestResults",
  /** It changes drift back once, as part of such a request. */
  "CorrectDrift",
  /** It answers what Helm would change in its cluster. */
  "Plan",
] as const;

export type AgentCapability = (typeof agentCapabilities)[number];
