/** Starts the hub and the agents as processes of their own. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localErrors } from "@flotilla/local/errors";
import type { ProgramName } from "@flotilla/local/images";
import {
  exitError,
  type RunningProcess,
  startProcess,
  type Watchers,
  watchersOf,
} from "@flotilla/local/process";
import { AppError } from "@flotilla/shared/errors";
import { hangMs } from "./hang.ts";

export interface ProgramSpec extends Watchers {
  /** For messages: `hub`, `agent of cluster-1`. */
  readonly name: string;
  readonly program: ProgramName;
  /** The entry file of the program; default: that of this version. */
  readonly main?: string | undefined;
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

const probeIntervalMs = 50;

/** Where the programs of this run are bundled; undefined outside of vitest, where they run from their sources. */
async function bundles(): Promise<string | undefined> {
  if (process.env["VITEST"] === undefined) return undefined;
  const { inject } = await import("vitest");
  return inject("programBundles");
}

/** The entry file of the hub or of the agent. */
async function mainOf(program: ProgramName): Promise<string> {
  const dir = await bundles();
  return dir === undefined
    ? fileURLToPath(import.meta.resolve(`@flotilla/${program}/main.ts`))
    : join(dir, program, "bin", `flotilla-${program}.js`);
}

/** What Node makes of the programs is kept for as long as the bundles. */
async function compileCache(): Promise<Readonly<Record<string, string>>> {
  const dir = await bundles();
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: join(dir, "compile-cache") };
}

/** Resolves once the health probe succeeds. Throws PROCESS_FAILED with the end of the log when the program exits first. */
export async function startProgram(spec: ProgramSpec): Promise<RunningProcess> {
  const started = await startProcess({
    name: spec.name,
    command: process.execPath,
    args: [
      ...(spec.nodeFlags ?? nodeFlags),
      spec.main ?? (await mainOf(spec.program)),
      ...spec.args,
    ],
    env: { ...(await compileCache()), ...spec.environment },
    logFile: spec.logFile,
    ...watchersOf(spec),
  });
  const url = `${spec.health}/${spec.untilReady ? "readyz" : "healthz"}`;
  const deadline = performance.now() + hangMs;
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
    `start ${spec.name}: not ready after ${hangMs / 1000} s, ${url} answers "${answer}"; see its log ${spec.logFile}`,
  );
}
