/** The product's processes, which tests end and start again. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Reaper, RunningProcess } from "@flotilla/local/process";
import { startAgent } from "./agent-program.ts";
import { chooseHubPorts, type HubPorts, startHub } from "./hub-program.ts";

export interface RestartableProcess {
  /** The one that was started last. */
  process(): RunningProcess;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface EntryFile {
  readonly main: string;
  /** Default: those of the local fleet. */
  readonly nodeFlags?: readonly string[];
}

/** The entry files of the programs. */
export interface EntryFiles {
  readonly hub: EntryFile;
  readonly agent: EntryFile;
}

export interface ProcessContext {
  /** The entry files of the next process that is started; default: those of this version. */
  readonly entryFiles?: () => EntryFiles | undefined;
  /** The fleet's folder; logs are in `logs`. */
  readonly dir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly reaper: Reaper;
}

/** One replica of the hub. */
export interface TestReplica extends RestartableProcess {
  readonly name: string;
  readonly ports: HubPorts;
  /** The log of its processes, one after the other. */
  readonly logFile: string;
}

export interface ReplicaSpec {
  readonly index: number;
  /** The path of the kubeconfig of the hub's API server. */
  readonly kubeconfig: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The address that agents use; default: its own. */
  readonly advertise?: string;
  /** More flags of the next process. */
  readonly flags?: (ports: HubPorts) => readonly string[];
}

export async function startReplica(
  { dir, environment, reaper, entryFiles }: ProcessContext,
  { index, kubeconfig, advertise, flags, environment: more }: ReplicaSpec,
): Promise<TestReplica> {
  const name = `hub-${index}`;
  const ports = await chooseHubPorts();
  const logFile = join(dir, "logs", index === 0 ? "hub.log" : `${name}.log`);
  const restartable = await startRestartable(() =>
    startHub({
      ...entryFiles?.()?.hub,
      kubeconfig,
      ports,
      logFile,
      environment: { ...environment, ...more },
      reaper,
      replica: name,
      ...(advertise !== undefined && { advertise }),
      flags: flags?.(ports) ?? [],
    }),
  );
  return { name, ports, logFile, ...restartable };
}

export interface AgentProcess extends RestartableProcess {
  /** The log of its processes, one after the other. */
  readonly logFile: string;
}

export interface AgentProcessSpec {
  /** The name of the cluster. */
  readonly name: string;
  /** The path of the kubeconfig of its API server. */
  readonly kubeconfig: string;
  readonly helm: string;
  /** Further arguments. */
  readonly args?: readonly string[];
}

export async function startAgentProcess(
  { dir, environment, reaper, entryFiles }: ProcessContext,
  { name, kubeconfig, helm, args = [] }: AgentProcessSpec,
): Promise<AgentProcess> {
  const dataDir = join(dir, `${name}-agent`);
  const logFile = join(dir, "logs", `${name}-agent.log`);
  await mkdir(dataDir, { recursive: true });
  const restartable = await startRestartable(() =>
    startAgent({
      ...entryFiles?.()?.agent,
      ...{ cluster: name, kubeconfig, dataDir, helm, args, logFile, environment, reaper },
    }),
  );
  return { logFile, ...restartable };
}

async function startRestartable(run: () => Promise<RunningProcess>): Promise<RestartableProcess> {
  let running = await run();
  return {
    process: () => running,
    async start() {
      running = await run();
    },
    stop: () => running.stop(),
  };
}
