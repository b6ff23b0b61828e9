/** Starts the hub and the agents as processes of their own. */
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localErrors } from "@flotilla/local/errors";
import {
  exitError,
  type RunningProcess,
  startProcess,
  type Watchers,
  watchersOf,
} from "@flotilla/local/process";
import { AppError } from "@flotilla/shared/errors";

export interface ProgramSpec extends Watchers {
  /** For messages: `hub`, `agent of cluster-1`. */
  readonly name: string;
  /** The TypeScript file to run. */
  readonly main: string;
  readonly nodeFlags?: readonly string[];
  readonly args: readonly string[];
  /** `http://host:port` of its health server. */
  readonly health: string;
  /** Wait for `/readyz` instead of `/healthz`. */
  readonly untilReady: boolean;
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** As the hub's image has them. */
const nodeFlags = ["--max-semi-space-size=4"];

const startTimeoutMs = 60_000;
const probeIntervalMs = 50;

/** Entry files of the hub and of the agent. */
export const hubMain = fileURLToPath(import.meta.resolve("@flotilla/hub/main.ts"));
export const agentMain = fileURLToPath(import.meta.resolve("@flotilla/agent/main.ts"));

/** The compile cache of this process, if it has one; in a folder of its own, because `nodeFlags` invalidate its entries. */
function compileCache(): Readonly<Record<string, string>> {
  const dir = getCompileCacheDir();
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: join(dir, "programs") };
}

/** Resolves once the health probe succeeds. Throws PROCESS_FAILED with the end of the log when the program exits first. */
export async function startProgram(spec: ProgramSpec): Promise<RunningProcess> {
  const started = await startProcess({
    name: spec.name,
    command: process.execPath,
    args: [...(spec.nodeFlags ?? nodeFlags), spec.main, ...spec.args],
    env: { ...compileCache(), ...spec.environment },
    logFile: spec.logFile,
    ...watchersOf(spec),
  });
  const url = `${spec.health}/${spec.untilReady ? "readyz" : "healthz"}`;
  const deadline = performance.now() + startTimeoutMs;
  let answer = "no answer";
  while (performance.now() < deadline) {
    if (started.exit() !== undefined) throw await exitError(started);
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
      answer = (await response.text()).trim();
      if (response.ok) return started;
    } catch {
      answer = "no answer";
    }
    await Promise.race([
      started.exited,
      new Promise((resolve) => setTimeout(resolve, probeIntervalMs)),
    ]);
  }
  await started.stop();
  throw new AppError(
    localErrors.PROCESS_FAILED,
    `start ${spec.name}: not ready after ${startTimeoutMs / 1000} s, ${url} answers "${answer}"; see its log ${spec.logFile}`,
  );
}
