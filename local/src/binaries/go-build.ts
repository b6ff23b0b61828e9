/** Builds a tool with Go from its pinned module. */
import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";
import { diskFullError } from "../process/process-errors.ts";
import { buildingNeeds } from "./cache.ts";
import type { GoBuild } from "./tools.ts";

const run = promisify(execFile);
/** Found on the PATH of the environment that is given. */
const goProgram = "go";
const keptOutput = 64 * 1024;

export interface GoOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Whether there is a Go to build with; any from 1.21 on fetches the version that a module asks for by itself. */
export async function hasGo(options: GoOptions): Promise<boolean> {
  try {
    await run(goProgram, ["env", "GOVERSION"], {
      env: { ...options.environment },
      timeout: 30_000,
    });
    return true;
  } catch {
    return false;
  }
}

/** Builds one program to `output`. The message of a failure is one line that says why, then Go's last lines. */
export async function goBuild(
  name: string,
  build: GoBuild,
  output: string,
  options: GoOptions,
): Promise<void> {
  const ldflags = ["-s", "-w", ...build.ldflags].join(" ");
  const args = ["build", "-trimpath", "-ldflags", ldflags, "-o", output, build.package];
  const child = spawn(goProgram, args, {
    cwd: build.dir,
    // A workspace file of a folder above would replace the pins.
    env: { ...options.environment, CGO_ENABLED: "0", GOWORK: "off" },
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  let said = "";
  const keep = (chunk: Buffer): void => {
    said = (said + chunk.toString("utf8")).slice(-keptOutput);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const outcome = await new Promise<Outcome>((resolve) => {
    child.once("error", (thrown) => resolve({ error: thrown }));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  if (options.signal?.aborted === true) {
    throw new AppError(commonErrors.CANCELLED, `go build of ${name} was given up`);
  }
  const failure = buildFailure(name, outcome, said);
  if (failure !== undefined) throw failure;
}

interface Outcome {
  readonly error?: Error;
  readonly code?: number | null;
  readonly signal?: NodeJS.Signals | null;
}

/** The error for an outcome of `go build`, if it is a failure. */
function buildFailure(name: string, outcome: Outcome, said: string): AppError | undefined {
  if (outcome.code === 0) return undefined;
  const doing = `go build of ${name}`;
  const full = diskFullError(outcome.error ?? said, doing, buildingNeeds);
  if (full !== undefined) return full;
  if (outcome.error !== undefined) {
    return new AppError(
      localErrors.BINARY_BUILD_FAILED,
      `${doing} could not start: ${messageOf(outcome.error)}`,
      {
        cause: outcome.error,
      },
    );
  }
  const killed = outcome.signal ?? /signal: (\w+)/.exec(said)?.[1];
  if (killed !== undefined) {
    return new AppError(
      localErrors.BINARY_BUILD_FAILED,
      `${doing} was ended by ${killed}, often for want of memory: the linker needs about 3 GB; the next start builds on`,
    );
  }
  return new AppError(
    localErrors.BINARY_BUILD_FAILED,
    `${doing} ended with code ${outcome.code ?? "unknown"}:\n${said.trimEnd().split("\n").slice(-12).join("\n")}`,
  );
}
