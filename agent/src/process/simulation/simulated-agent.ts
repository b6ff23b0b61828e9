/**
 * An agent without a cluster: the real identity, connection, outbox, stores and engine, with Helm and the installed objects
 * simulated.
 */
import { agentNamespace } from "@flotilla/shared/api/names";
import type { Semaphore } from "@flotilla/shared/concurrency";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import { createHubConnection, type HubConnection } from "../../link/index.ts";
import { createFetchedSources } from "../../observe/index.ts";
import { createEngine } from "../../release/index.ts";
import {
  type Bootstrap,
  type ConnectHub,
  createAssignments,
  createClusterInfoStore,
  createIdentityController,
  createReferencedObjects,
  createReleaseAssignments,
} from "../../state/index.ts";
import type { FleetCounter } from "./fleet-counts.ts";
import {
  createAnsweredRequests,
  createMemoryIdentityStore,
  noAssignmentStorage,
  noDrift,
  noSecretStorage,
} from "./in-memory-parts.ts";
import { createSimulatedHelm, type SimulatedHelmOptions } from "./simulated-helm.ts";
import { createSimulatedPlans } from "./simulated-plans.ts";
import { createSimulatedReadiness } from "./simulated-readiness.ts";

/** Shared by all simulated agents of a process. */
export interface SimulatedAgentDeps {
  readonly connectHub: ConnectHub;
  /** Limits concurrent handshakes. */
  readonly handshakes: Pick<Semaphore, "acquire" | "release">;
  readonly agentVersion: string;
  readonly helm: SimulatedHelmOptions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  readonly counter: Pick<FleetCounter, "observed">;
  readonly random: () => number;
}

/** What differs between the agents of a process. */
export interface SimulatedAgentOptions {
  readonly bootstrap: Bootstrap;
  /** Agents of one group answer plans with the same diff. */
  readonly planGroup: number;
}

export interface SimulatedAgent {
  readonly connection: Pick<HubConnection, "isConnected" | "onChange">;
  /** Changes the readiness of one release, if there is any. */
  changeReadiness(): void;
  /** Until `signal` aborts and the stream is closed. */
  run(signal: AbortSignal): Promise<void>;
}

/** As many workers as an agent on two processors. */
const concurrency = 4;

const noChanges = { onChange: () => undefined };

export function createSimulatedAgent(
  deps: SimulatedAgentDeps,
  { bootstrap, planGroup }: SimulatedAgentOptions,
): SimulatedAgent {
  const { log, clock } = deps;
  const connection = createHubConnection({
    ...deps,
    agentNamespace,
    identity: createIdentityController({ ...deps, store: createMemoryIdentityStore(bootstrap) }),
  });
  const readiness = createSimulatedReadiness();
  const assignments = createAssignments({ storage: noAssignmentStorage, log });
  const engine = createEngine({
    clients: noChanges,
    inputs: noChanges,
    downstream: noChanges,
    releases: {
      ...noChanges,
      onRemoved: () => undefined,
      onReadable: () => undefined,
      history: () => [],
    },
    // A lost assignment has nothing to uninstall.
    inventory: {
      releasesOf: () => [],
      knows: () => false,
    },
    documents: { isComplete: true, setComplete: () => Promise.resolve() },
    attempts: {
      setFailedAttempts: () => Promise.resolve(),
      failedAttemptsOf: () => undefined,
      deadlineOf: () => undefined,
    },
    requests: createAnsweredRequests(),
    assignments,
    assigned: createReleaseAssignments(assignments),
    referenced: createReferencedObjects({ secrets: noSecretStorage, log }),
    clusterInfo: createClusterInfoStore({ secrets: noSecretStorage, log }),
    deployer: createSimulatedHelm(deps.helm, deps),
    readiness,
    drift: noDrift,
    sources: createFetchedSources(),
    outbox: deps.counter.observed(connection.outbox),
    concurrency,
    clock,
    log,
    metrics: deps.metrics,
  });
  const plans = createSimulatedPlans(
    { group: planGroup, latencyMs: deps.helm.latencyMs },
    { ...deps, assignments },
  );
  return {
    connection,
    changeReadiness() {
      const changed = readiness.changeNext();
      if (changed === undefined) return;
      const { name: deployment, ready } = changed;
      log.info({ deployment, ready }, "readiness changed");
    },
    async run(signal) {
      await Promise.all([engine.run(signal), connection.run(engine.intake, signal, plans)]);
    },
  };
}
