/**
 * An agent without a cluster: the product's own identity, link, outbox, stores and engine. What would lie in the cluster
 * lasts as long as the process, and Helm and the objects it installs are made up.
 */
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import type { Semaphore } from "@flotilla/shared/concurrency/semaphore.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Registry } from "prom-client";
import type { AssignmentStorage } from "../assignment/assignment-storage.ts";
import { createAssignments } from "../assignment/assignments.ts";
import { createEngine } from "../engine/engine.ts";
import type { Bootstrap } from "../identity/bootstrap.ts";
import { createIdentityKeeper } from "../identity/identity-keeper.ts";
import type { ConnectHub } from "../link/hub-client.ts";
import { createLink, type Link } from "../link/link.ts";
import type { OwnSecrets } from "../storage/own-secrets.ts";
import { createFacts } from "../supply/facts.ts";
import { createSupplies } from "../supply/supplies.ts";
import { createIdentityInMemory } from "./identity-in-memory.ts";
import { createSimulatedHelm, type SimulatedHelmOptions } from "./simulated-helm.ts";
import { createSimulatedReadiness } from "./simulated-readiness.ts";
import type { Tally } from "./tally.ts";

/** What all simulated agents of a process have in common. */
export interface SimulatedAgentDeps {
  readonly connectHub: ConnectHub;
  /** For those that connect. */
  readonly places: Pick<Semaphore, "acquire" | "release">;
  readonly agentVersion: string;
  readonly helm: SimulatedHelmOptions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  readonly tally: Pick<Tally, "observed">;
  readonly random: () => number;
}

export interface SimulatedAgent {
  readonly link: Pick<Link, "isConnected" | "onChange">;
  /** Until `signal` aborts and the stream has ended in good order. */
  run(signal: AbortSignal): Promise<void>;
}

/** As many as an agent on two processors. */
const concurrency = 4;

const nothingKept: AssignmentStorage = {
  load: () => Promise.resolve([]),
  store: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};
const noSecrets: OwnSecrets = {
  list: () => Promise.resolve([]),
  write: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};
const quiet = { onChange: () => undefined };

export function createSimulatedAgent(
  deps: SimulatedAgentDeps,
  bootstrap: Bootstrap,
): SimulatedAgent {
  const { log, clock } = deps;
  const link = createLink({
    ...deps,
    agentNamespace,
    keeper: createIdentityKeeper({ ...deps, store: createIdentityInMemory(bootstrap) }),
  });
  const engine = createEngine({
    actors: quiet,
    inputs: quiet,
    copies: quiet,
    releases: { ...quiet, onRemoved: () => undefined },
    assignments: createAssignments({ storage: nothingKept, log }),
    supplies: createSupplies({ own: noSecrets, log }),
    facts: createFacts({ own: noSecrets, log }),
    deployer: createSimulatedHelm(deps.helm, deps),
    readiness: createSimulatedReadiness(),
    outbox: deps.tally.observed(link.outbox),
    concurrency,
    clock,
    log,
    metrics: deps.metrics,
  });
  return {
    link,
    async run(signal) {
      await Promise.all([engine.run(signal), link.run(engine.intake, signal)]);
    },
  };
}
