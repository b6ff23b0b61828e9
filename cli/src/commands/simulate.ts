/** `flotilla simulate`: connects simulated agents to a hub, and deletes what it created there when they are stopped. */
import { randomUUID } from "node:crypto";
import { connectKube } from "@flotilla/shared/kube/client";
import type { CliConfig } from "../config.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/index.ts";
import {
  createHelmOps,
  createRegistration,
  deleteSimulation,
  deleteSimulationsNamed,
  newBootstraps,
  openFilesLimit,
  runAgents,
  type Simulation,
  simulationName,
  validateName,
  validateOpenFiles,
} from "../simulate/index.ts";
import { abortOnSignals, exitCodeOf } from "./signals.ts";

export interface SimulateOptions extends HubOptions {
  readonly agents: number;
  /** How many HelmOps to create for the agents. */
  readonly bundles: number;
  /** Mean duration of an installation in milliseconds. */
  readonly latency: number;
  /** Share of installations that fail, 0 to 1. */
  readonly failureRate: number;
  /** How many releases become not ready or ready each second. */
  readonly changes: number;
  /** Into how many groups with equal diffs the agents fall that answer plans. */
  readonly planGroups: number;
  /** Name of the simulation; generated when absent. */
  readonly name?: string;
  readonly namespace: string;
  readonly tokenSecret?: string;
  /** Keep the objects on the hub. */
  readonly keep?: boolean;
  readonly logFile?: string;
  /** Only delete the objects of the simulation with this name. */
  readonly remove?: string;
}

/** Resolves after a signal, once all connections are closed and the created objects are deleted. */
export async function simulate(options: SimulateOptions, config: CliConfig): Promise<void> {
  const { namespace, remove } = options;
  if (remove === undefined) validateOpenFiles(options.agents, openFilesLimit());
  const hub = connectKube(await hubKubeconfig(options, config));
  const context = { hub, namespace, print: (line: string) => process.stdout.write(`${line}\n`) };
  try {
    if (remove !== undefined) return await deleteSimulationsNamed(context, remove);
    await runSimulation(
      {
        ...context,
        name: options.name ?? simulationName(Math.random()),
        id: randomUUID(),
        created: { tokens: [], helmOps: [] },
      },
      options,
    );
  } finally {
    await hub.close();
  }
}

async function runSimulation(simulation: Simulation, options: SimulateOptions): Promise<void> {
  const { agents, latency: latencyMs, failureRate, changes, planGroups, logFile } = options;
  const signal = abortOnSignals({
    onFirst: () => process.stdout.write("\nStopping ...\n"),
    onRepeat: (repeated) => process.exit(exitCodeOf(repeated)),
  });
  await validateName(simulation, options);
  try {
    const registration = await createRegistration(simulation, options.tokenSecret);
    await createHelmOps(simulation, options.bundles);
    await runAgents({
      name: simulation.name,
      bootstraps: newBootstraps(simulation, agents, registration),
      helm: { latencyMs, failureRate },
      changesPerSecond: changes,
      planGroups: Math.max(1, planGroups),
      print: simulation.print,
      signal,
      ...(logFile !== undefined && { logFile }),
    });
  } finally {
    if (options.keep !== true) await deleteSimulation(simulation);
  }
}
