/** Counts simulated agents and their deployments by state, incrementally. */
import type { DeploymentState } from "@flotilla/proto";
import type { Outbox } from "../../observe/index.ts";

/** The last reported state of a deployment. */
export type SimulatedState = "ready" | "failed" | "other";

export interface FleetCounts {
  /** Connected agents. */
  readonly connected: number;
  /** Deployments by state. */
  readonly deployments: Readonly<Record<SimulatedState, number>>;
}

export interface FleetCounter {
  readonly counts: FleetCounts;
  connectionChanged(isConnected: boolean): void;
  /** Counts the reports of one agent and passes them to its outbox. */
  observed(outbox: Outbox): Outbox;
}

export function createFleetCounter(onChange: () => void): FleetCounter {
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

      function setState(name: string, state: SimulatedState | undefined): void {
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
          setState(state.name, toSimulatedState(state));
          outbox.report(state);
        },
        withdrawn(deployment) {
          setState(deployment.name, undefined);
          outbox.withdrawn(deployment);
        },
      };
    },
  };
}

function toSimulatedState({ phase, ready }: DeploymentState): SimulatedState {
  if (phase === "failed") return "failed";
  return ready ? "ready" : "other";
}
