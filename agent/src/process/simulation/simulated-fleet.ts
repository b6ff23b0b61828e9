/** Many simulated agents in one process, each with its own connection. */

import { createSemaphore } from "@flotilla/shared/concurrency";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import { type Bootstrap, createHubConnector } from "../../state/index.ts";
import { createFleetCounter, type FleetCounts } from "./fleet-counts.ts";
import { createSimulatedAgent } from "./simulated-agent.ts";
import { runChanges } from "./simulated-changes.ts";
import type { SimulatedHelmOptions } from "./simulated-helm.ts";

export interface SimulatedFleetOptions {
  /** One for each agent. */
  readonly bootstraps: readonly Bootstrap[];
  readonly agentVersion: string;
  readonly helm: SimulatedHelmOptions;
  /** Changes of the readiness of releases a second, of all agents together, as soon as all are connected. */
  readonly changesPerSecond: number;
  /** Into so many groups with equal diffs the agents fall that answer plans; absent: one. */
  readonly planGroups?: number;
}

export interface SimulatedFleetDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

export interface SimulatedFleet {
  readonly counts: FleetCounts;
  /** Called for every change of the counts, which is often. */
  onChange(listener: () => void): void;
  /** Until `signal` aborts and all streams are closed. */
  run(signal: AbortSignal): Promise<void>;
}

/** Agents that have started but were never connected: the hub limits the rate of enrolments. */
const maxConcurrentStarts = 32;

/**
 * Connections without Welcome. Real agents have a processor each for their part of the TLS handshake; here thousands that
 * connect at once would share one, and none would be ready before the last.
 */
const maxConcurrentHandshakes = 64;

export function createSimulatedFleet(
  {
    bootstraps,
    agentVersion,
    helm,
    changesPerSecond: perSecond,
    planGroups = 1,
  }: SimulatedFleetOptions,
  deps: SimulatedFleetDeps,
): SimulatedFleet {
  const shared = {
    ...deps,
    agentVersion,
    helm,
    connectHub: createHubConnector(),
    handshakes: createSemaphore(maxConcurrentHandshakes),
    metrics: new Registry(),
  };
  const listeners: (() => void)[] = [];
  const counter = createFleetCounter(changed);
  let agentCount = 0;

  function changed(): void {
    for (const listener of listeners) listener();
  }

  function start(bootstrap: Bootstrap, signal: AbortSignal): Started {
    const log = deps.log.child({ agent: bootstrap.clusterName });
    const planGroup = agentCount % planGroups;
    agentCount += 1;
    const agent = createSimulatedAgent({ ...shared, log, counter }, { bootstrap, planGroup });
    const first = Promise.withResolvers<void>();
    let wasConnected = false;
    agent.connection.onChange(() => {
      const { isConnected } = agent.connection;
      if (isConnected) first.resolve();
      if (isConnected === wasConnected) return;
      wasConnected = isConnected;
      counter.connectionChanged(isConnected);
    });
    return {
      ended: agent.run(signal).finally(first.resolve),
      connectedOnce: first.promise,
      changeReadiness: () => agent.changeReadiness(),
    };
  }

  return {
    get counts() {
      return counter.counts;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      const ends: Promise<void>[] = [];
      const agents: (() => void)[] = [];
      const waiting = bootstraps.values();
      async function startNext(): Promise<void> {
        for (const bootstrap of waiting) {
          if (signal.aborted) return;
          const { ended, connectedOnce, changeReadiness } = start(bootstrap, signal);
          ends.push(ended);
          agents.push(changeReadiness);
          await connectedOnce;
        }
      }
      await Promise.all(Array.from({ length: maxConcurrentStarts }, startNext));
      await runChanges({ perSecond, agents }, deps.clock, signal);
      await Promise.all(ends);
    },
  };
}

interface Started {
  readonly changeReadiness: () => void;
  readonly connectedOnce: Promise<void>;
  readonly ended: Promise<void>;
}
