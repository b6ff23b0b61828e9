/** Many simulated agents in one process, each with a connection of its own. */

import { createSemaphore } from "@flotilla/shared/concurrency/semaphore.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { Registry } from "prom-client";
import type { Bootstrap } from "../identity/bootstrap.ts";
import { createHubConnector } from "../link/hub-client.ts";
import { createSimulatedAgent } from "./simulated-agent.ts";
import type { SimulatedHelmOptions } from "./simulated-helm.ts";
import { type Counts, createTally } from "./tally.ts";

export interface SimulatedFleetOptions {
  /** What each agent enrols with. */
  readonly bootstraps: readonly Bootstrap[];
  readonly agentVersion: string;
  readonly helm: SimulatedHelmOptions;
}

export interface SimulatedFleetDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

export interface SimulatedFleet {
  readonly counts: Counts;
  /** Hears of every change of the counts, which is often. */
  onChange(listener: () => void): void;
  /** Until `signal` aborts and all streams have ended in good order. */
  run(signal: AbortSignal): Promise<void>;
}

/** Agents that have begun and were never connected: a hub takes so many enrolments a second and refuses what is beyond. */
const startingAtATime = 32;

/**
 * Connections that are begun and not welcomed yet. In a fleet each agent has a processor of its own for its part of the
 * handshake; here thousands that begin at once share one, and the first would be done when the last is.
 */
const connectingAtATime = 64;

export function createSimulatedFleet(
  { bootstraps, agentVersion, helm }: SimulatedFleetOptions,
  deps: SimulatedFleetDeps,
): SimulatedFleet {
  const shared = {
    ...deps,
    agentVersion,
    helm,
    connectHub: createHubConnector(),
    places: createSemaphore(connectingAtATime),
    metrics: new Registry(),
  };
  const listeners: (() => void)[] = [];
  const tally = createTally(changed);

  function changed(): void {
    for (const listener of listeners) listener();
  }

  function start(bootstrap: Bootstrap, signal: AbortSignal): Started {
    const log = deps.log.child({ agent: bootstrap.clusterName });
    const agent = createSimulatedAgent({ ...shared, log, tally }, bootstrap);
    const first = Promise.withResolvers<void>();
    let wasConnected = false;
    agent.link.onChange(() => {
      const { isConnected } = agent.link;
      if (isConnected) first.resolve();
      if (isConnected === wasConnected) return;
      wasConnected = isConnected;
      tally.connectionChanged(isConnected);
    });
    return { ended: agent.run(signal).finally(first.resolve), connectedOnce: first.promise };
  }

  return {
    get counts() {
      return tally.counts;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      const ends: Promise<void>[] = [];
      const waiting = bootstraps.values();
      async function startInTurn(): Promise<void> {
        for (const bootstrap of waiting) {
          if (signal.aborted) return;
          const { ended, connectedOnce } = start(bootstrap, signal);
          ends.push(ended);
          await connectedOnce;
        }
      }
      await Promise.all(Array.from({ length: startingAtATime }, startInTurn));
      await Promise.all(ends);
    },
  };
}

interface Started {
  readonly connectedOnce: Promise<void>;
  readonly ended: Promise<void>;
}
