/** The agent of one cluster of a test fleet. */
import { freePort, type RunningProcess, type Watchers, watchersOf } from "@flotilla/local/process";
import { startProgram } from "./start-program.ts";

export interface AgentSpec extends Watchers {
  /** Name of the cluster, for messages. */
  readonly cluster: string;
  readonly kubeconfig: string;
  /** Folder for its chart cache; not shared. */
  readonly dataDir: string;
  /** Path of the helm program. */
  readonly helm: string;
  /** Further arguments. */
  readonly args?: readonly string[];
  /** The entry file of the program; default: that of this version. */
  readonly main?: string;
  readonly nodeFlags?: readonly string[];
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Resolves once the agent is alive, which may be before it has connected to the hub. */
export async function startAgent(spec: AgentSpec): Promise<RunningProcess> {
  const port = await freePort();
  return await startProgram({
    name: `agent of ${spec.cluster}`,
    program: "agent",
    main: spec.main,
    ...(spec.nodeFlags !== undefined && { nodeFlags: spec.nodeFlags }),
    args: [
      `--kubeconfig=${spec.kubeconfig}`,
      `--data-dir=${spec.dataDir}`,
      `--helm=${spec.helm}`,
      `--internal-listen=127.0.0.1:${port}`,
      ...(spec.args ?? []),
    ],
    health: `http://127.0.0.1:${port}`,
    untilReady: false,
    logFile: spec.logFile,
    environment: spec.environment,
    ...watchersOf(spec),
  });
}
