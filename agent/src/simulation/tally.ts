/** How simulated agents and their deployments are, counted as they change. */
import type { DeploymentState } from "@flotilla/proto/messages.ts";
import type { Outbox } from "../link/ports.ts";

/** A deployment as it was reported last. */
export type SimulatedState = "ready" | "failed" | "other";

export interface Counts {
  /** Agents that are connected. */
  readonly connected: number;
  /** Deployments by state. */
  readonly deployments: Readonly<Record<SimulatedState, number>>;
}

export interface Tally {
  readonly counts: Counts;
  connectionChanged(isConnected: boolean): void;
  /** An agent's outbox, whose reports are counted on their way. */
  observed(outbox: Outbox): Outbox;
}

export function createTally(onChange: () => void): Tally {
  const deployments = { ready: 0, failed: 0, other: 0 };
  let connected = 0;

  return {
    get counts() {
      return { connected, deployments };
    },
    connectionChanged(isConnected) {
      connected += isConnected ? 1 : -1;
      onChange();
    },
    observed(outbox) {
      const states = new Map<string, SimulatedState>();

      function becomes(name: string, state: SimulatedState | undefined): void {
        const before = states.get(name);
        if (before === state) return;
        if (before !== undefined) deployments[before] -= 1;
        if (state === undefined) states.delete(name);
        else {
          states.set(name, state);
          deployments[state] += 1;
        }
        onChange();
      }

      return {
        report(state) {
          becomes(state.name, countedAs(state));
          outbox.report(state);
        },
        withdrawn(deployment) {
          becomes(deployment.name, undefined);
          outbox.withdrawn(deployment);
        },
      };
    },
  };
}

function countedAs({ phase, ready }: DeploymentState): SimulatedState {
  if (phase === "failed") return "failed";
  return ready ? "ready" : "other";
}
