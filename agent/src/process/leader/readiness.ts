/** What `/readyz` says of an agent. Pure. */

export interface Readiness {
  readonly isReady: boolean;
  /** Why it is not, or what it does. */
  readonly message: string;
}

export interface AgentState {
  /** The active agent of the cluster, as last observed; `undefined`: none, or not known yet. */
  readonly holder: string | undefined;
  readonly isLeading: boolean;
  /** This agent's. */
  readonly identity: string;
  readonly isConnected: boolean;
  /** Why there is no connection to the hub; "" before the first failure. */
  readonly connectionError: string;
}

/** A standby is ready, so that a rolling update ends the agent that it replaces. */
export function readinessOf({
  holder,
  isLeading,
  identity,
  isConnected,
  connectionError,
}: AgentState): Readiness {
  if (isLeading)
    return isConnected
      ? { isReady: true, message: "ok" }
      : { isReady: false, message: `not connected to the hub: ${connectionError}` };
  return holder === undefined || holder === identity
    ? { isReady: false, message: "waiting for the Lease flotilla-agent/flotilla-agent" }
    : { isReady: true, message: `standby: ${holder} is active` };
}
