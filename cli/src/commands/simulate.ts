/** `flotilla simulate`: agents without clusters, as many as a hub is to be tried with. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { createSimulatedFleet } from "@flotilla/agent/simulation/simulated-fleet.ts";
import { buildVersion } from "@flotilla/shared/buildinfo/build-version.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { lineLog } from "@flotilla/shared/log/log.ts";
import { systemClock as clock } from "@flotilla/shared/time/clock.ts";
import type { CliConfig } from "../config.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/hub-kubeconfig.ts";
import {
  checkName,
  createHelmOps,
  registrationOf,
  removeKept,
  removeSimulation,
  type Simulation,
} from "../simulate/hub-objects.ts";
import { checkOpenFiles, openFilesLimit } from "../simulate/open-files.ts";
import { bootstrapsOf, simulationName } from "../simulate/plan.ts";
import { describeProgress, warningIn } from "../simulate/progress.ts";

export interface SimulateOptions extends HubOptions {
  readonly agents: number;
  /** HelmOps that target them. */
  readonly bundles: number;
  readonly latency: number;
  readonly failureRate: number;
  /** Of the simulation. */
  readonly name?: string;
  readonly namespace: string;
  readonly tokenSecret?: string;
  /** What it made on the hub stays. */
  readonly keep: boolean;
  readonly logFile?: string;
  /** The name of a simulation that was kept: what it made is deleted, and nothing else is done. */
  readonly remove?: string;
}

const progressEveryMs = 5_000;

/** Resolves after Ctrl-C, when all streams have ended and what was made is gone again. */
export async function simulate(options: SimulateOptions, config: CliConfig): Promise<void> {
  const { namespace, remove } = options;
  if (remove === undefined) checkOpenFiles(options.agents, openFilesLimit());
  const hub = connectKube(await hubKubeconfig(options, config));
  const place = { hub, namespace, tell: (line: string) => process.stdout.write(`${line}\n`) };
  try {
    if (remove !== undefined) return await removeKept(place, remove);
    await runSimulation(
      {
        ...place,
        name: options.name ?? simulationName(Math.random()),
        id: randomUUID(),
        made: { tokens: [], helmOps: [] },
      },
      options,
    );
  } finally {
    await hub.close();
  }
}

async function runSimulation(simulation: Simulation, options: SimulateOptions): Promise<void> {
  const stop = stopOnSignals();
  await checkName(simulation, options);
  try {
    const registration = await registrationOf(simulation, options.tokenSecret);
    await createHelmOps(simulation, options.bundles);
    const bootstraps = bootstrapsOf(simulation, options.agents, registration);
    await runAgents(simulation, options, { bootstraps, stop });
  } finally {
    if (!options.keep) await removeSimulation(simulation);
  }
}

async function runAgents(
  { name, tell }: Simulation,
  options: SimulateOptions,
  { bootstraps, stop }: { bootstraps: ReturnType<typeof bootstrapsOf>; stop: AbortSignal },
): Promise<void> {
  const { agents, latency: latencyMs, failureRate, logFile } = options;
  const file = logFile === undefined ? undefined : createWriteStream(logFile, { flags: "a" });
  let trouble = "";
  const fleet = createSimulatedFleet(
    { bootstraps, agentVersion: buildVersion, helm: { latencyMs, failureRate } },
    {
      clock,
      log: lineLog({
        name: "agent",
        level: file === undefined ? "warn" : "info",
        write(line) {
          file?.write(line);
          trouble = warningIn(line) ?? trouble;
        },
      }),
      random: Math.random,
    },
  );
  const begun = performance.now();
  let told = "";
  let wereConnected = false;
  function show(): void {
    const line = describeProgress({ ...fleet.counts, agents, trouble });
    if (line === told) return;
    told = line;
    tell(`[${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s] ${line}`);
  }
  fleet.onChange(() => {
    if (wereConnected || fleet.counts.connected < agents) return;
    wereConnected = true;
    show();
    tell(`The agents of ${name} are connected. Ctrl-C ends them.`);
  });
  const timer = setInterval(show, progressEveryMs);
  try {
    await fleet.run(stop);
  } finally {
    clearInterval(timer);
    file?.end();
  }
  tell(`${agents} agents ended`);
}

/** Aborts at the first Ctrl-C; a second one ends the program at once. */
function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(1);
      process.stdout.write("\nStopping ...\n");
      controller.abort();
    });
  }
  return controller.signal;
}
