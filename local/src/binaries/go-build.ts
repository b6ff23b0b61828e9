/** Builds a tool with Go from its pinned module. */
import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";
import { diskFullError } from "../process/index.ts";
import { spaceNeeded } from "./cache.ts";
import type { GoBuild } from "./tools.ts";

const run = promisify(execFile);
/** Found on the PATH of the given environment. */
const goProgram = "go";
const keptOutput = 64 * 1024;

export interface GoOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Whether Go is installed. From 1.21 on it downloads the version that a module requires. */
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

/** Builds a program to `output`. The message of an error is one line with the cause, then the last lines of Go's output. */
export async function goBuild(
  name: string,
  build: GoBuild,
  output: string,
  options: GoOptions,
): Promise<void> {
  const ldflags = ["-s", "-w", ...build.ldflags].join(" ");
  // Not the commit of this repository: the same sources give the same bytes.
  const args = ["build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags];
  if (build.tags !== undefined) args.push("-tags", build.tags.join(","));
  args.push("-o", output, build.package);
  const child = spawn(goProgram, args, {
    cwd: build.dir,
    // A go.work in a parent folder would override the pinned versions.
    env: { ...options.environment, CGO_ENABLED: "0", GOWORK: "off" },
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  let printed = "";
  const keep = (chunk: Buffer): void => {
    printed = (printed + chunk.toString("utf8")).slice(-keptOutput);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const result = await new Promise<BuildResult>((resolve) => {
    child.once("error", (thrown) => resolve({ error: thrown }));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  if (options.signal?.aborted === true) {
    throw new AppError(commonErrors.CANCELLED, `go build of ${name} was cancelled`);
  }
  const error = buildError(name, result, printed);
  if (error !== undefined) throw error;
}

interface BuildResult {
  readonly error?: Error;
  readonly code?: number | null;
  readonly signal?: NodeJS.Signals | null;
}

/** The error of a failed `go build`; undefined when it succeeded. */
function buildError(name: string, result: BuildResult, printed: string): AppError | undefined {
  if (result.code === 0) return undefined;
  const doing = `go build of ${name}`;
  const full = diskFullError(result.error ?? printed, doing, spaceNeeded);
  if (full !== undefined) return full;
  if (result.error !== undefined) {
    return new AppError(
      localErrors.BINARY_BUILD_FAILED,
      `${doing} could not start: ${messageOf(result.error)}`,
      {
        cause: result.error,
      },
    );
  }
  const killed = result.signal ?? /signal: (\w+)/.exec(printed)?.[1];
  if (killed !== undefined) {
    return new AppError(
      localErrors.BINARY_BUILD_FAILED,
      `${doing} was ended by ${killed}, often because of low memory (the linker needs about 3 GB); the next start continues the build`,
    );
  }
  return new AppError(
    localErrors.BINARY_BUILD_FAILED,
    `${doing} exited with code ${result.code ?? "unknown"}:\n${printed.trimEnd().split("\n").slice(-12).join("\n")}`,
  );
}
