/** The hub and the agents as processes of their own: started, waited for, ended and started again. */
import { fileURLToPath } from "node:url";
import { localErrors } from "@flotilla/local/errors.ts";
import { type Watchers, watchersOf } from "@flotilla/local/process/process-record.ts";
import {
  exitError,
  type RunningProcess,
  startProcess,
} from "@flotilla/local/process/start-process.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";

export interface ProgramSpec extends Watchers {
  /** For messages: `hub`, `agent of cluster-1`. */
  readonly name: string;
  /** The TypeScript file to run. */
  readonly main: string;
  readonly args: readonly string[];
  /** `http://host:port` of its health port. */
  readonly health: string;
  /** Whether to wait for `/readyz`; otherwise for `/healthz`. */
  readonly untilReady: boolean;
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A small young generation: long-lived processes stay small, at the cost of a little CPU. */
const nodeFlags = ["--max-semi-space-size=8"];

const startTimeoutMs = 60_000;
const askEveryMs = 50;

/** The file that runs the hub, and the one that runs an agent. */
export const hubMain = fileURLToPath(import.meta.resolve("@flotilla/hub/main.ts"));
export const agentMain = fileURLToPath(import.meta.resolve("@flotilla/agent/main.ts"));

/** Resolves once the program answers on its health port; rejects with the end of its log when it ends instead. */
export async function startProgram(spec: ProgramSpec): Promise<RunningProcess> {
  const started = await startProcess({
    name: spec.name,
    command: process.execPath,
    args: [...nodeFlags, spec.main, ...spec.args],
    env: spec.environment,
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
    await Promise.race([started.exited, new Promise((resolve) => setTimeout(resolve, askEveryMs))]);
  }
  await started.stop();
  throw new AppError(
    localErrors.PROCESS_FAILED,
    `${spec.name} was not ready within ${startTimeoutMs / 1000} s: ${url} says "${answer}"; its log is ${spec.logFile}`,
  );
}
