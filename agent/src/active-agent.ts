/** The work of the active agent. All its state is new whenever it is elected: another agent may have changed what is stored. */
import { agentNamespace } from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import type { KubeConnection } from "@flotilla/shared/kube/client";
import { fenceConnection, type Leadership } from "@flotilla/shared/kube/leaderelection";
import { createRunHelm, type HelmProgram } from "./helm/index.ts";
import { createInstaller, type InstallerDeps } from "./installer.ts";
import { createHubConnection, createVersionReader, type HubConnection } from "./link/index.ts";
import { createDrain } from "./process/index.ts";
import { type ConnectHub, createIdentityController, createIdentityStore } from "./state/index.ts";

export interface ActiveAgentDeps
  extends Omit<InstallerDeps, "rest" | "namespace" | "runHelm" | "outbox"> {
  readonly rest: KubeConnection;
  readonly helm: Omit<HelmProgram, "assertAllowed" | "forbidden">;
  readonly connectHub: ConnectHub;
}

export interface ActiveAgent {
  readonly connection: Pick<HubConnection, "isConnected" | "lastError">;
  /** Until `signal` aborts and the reconciles in progress have ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends all watches. */
  close(): Promise<void>;
}

export function createActiveAgent(deps: ActiveAgentDeps, leadership: Leadership): ActiveAgent {
  const { connectHub, clock, log } = deps;
  const rest = fenceConnection(deps.rest, leadership);
  const identity = createIdentityController({
    store: createIdentityStore(rest, agentNamespace, log),
    connectHub,
    clock,
    log,
  });
  const connection = createHubConnection({
    identity,
    connectHub,
    agentVersion: buildVersion,
    agentNamespace,
    readKubernetesVersion: createVersionReader(rest, deps),
    clock,
    log,
  });
  const installer = createInstaller({
    ...deps,
    rest,
    runHelm: createRunHelm({
      ...deps.helm,
      assertAllowed: () => leadership.assertLeading(),
      forbidden: leadership.lost,
    }),
    outbox: connection.outbox,
  });

  return {
    connection,
    async run(signal) {
      const assignments = await installer.load();
      log.info({ assignments }, "agent is active");
      const disconnect = new AbortController();
      // Stored assignments are reconciled whether or not the hub can be reached.
      const connected = connection.run(installer.intake, disconnect.signal, installer.answer);
      const drain = createDrain({ stop: signal, lost: leadership.lost }, clock);
      try {
        await installer.run(signal, drain.signal);
      } finally {
        drain.cancel();
        // Last, so that the results of these reconciles are sent, and the hub waits as short as possible for the next agent.
        disconnect.abort();
        await connected;
      }
    },
    close: () => installer.close(),
  };
}
