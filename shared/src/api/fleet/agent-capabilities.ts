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
  /** It plans once more right before Helm runs, and refuses what was not approved. */
  "VerifyPlan",
] as const;

export type AgentCapability = (typeof agentCapabilities)[number];
