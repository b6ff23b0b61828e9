/**
 * Runs git and the programs beside it, each in a process group of its own that ends with the signal. Nothing of the
 * machine's or a user's configuration counts, no hook and no filter runs, and git never asks.
 */
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { AppError, messageOf } from "../../../runtime/errors/index.ts";
import {
  killGroup,
  type ProcessLimits,
  type ProcessWatch,
} from "../../../runtime/process/index.ts";
import { gitErrors } from "./errors.ts";

export interface Run {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input?: string | Buffer | undefined;
  readonly signal: AbortSignal;
  /** Ends with GIT_TOO_LARGE when it prints more. Not for `read`. */
  readonly maxOutputBytes?: number;
  /** Gets the output instead of `stdout`. Rejecting ends the program. */
  readonly read?: (output: Readable) => Promise<void>;
}

export interface RunResult {
  /** Any other than 0 is a failure, 128 + n after signal n too. */
  readonly code: number;
  readonly stdout: Buffer;
  /** Its beginning and its end, when it is long. */
  readonly stderr: string;
}

export type RunProgram = (run: Run) => Promise<RunResult>;

export interface ProcessControl {
  readonly watch: ProcessWatch;
  readonly limits: ProcessLimits;
}

const defaultMaxOutputBytes = 64 * 1024 * 1024;
const maxErrorBytes = 16 * 1024;

export function createRunProgram(control?: ProcessControl): RunProgram {
  return async (run) => {
    run.signal.throwIfAborted();
    const child = spawn(run.program, run.args, {
      env: { ...run.env },
      cwd: run.cwd,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    let exceeded: string | undefined;
    const watched =
      child.pid === undefined || control === undefined
        ? undefined
        : control.watch.start(child.pid, control.limits, (what) => {
            exceeded = what;
          });
    const kill = (): void => killGroup(child.pid, "SIGKILL");
    run.signal.addEventListener("abort", kill, { once: true });
    const closed = new Promise<number>((resolve, reject) => {
      child.once("error", (thrown) =>
        reject(
          new AppError(
            gitErrors.GIT_FAILED,
            `cannot start ${run.program}: ${messageOf(thrown)}; the image or the machine must have it`,
          ),
        ),
      );
      child.once("close", (code) => resolve(code ?? 255));
    });
    closed.catch(() => undefined);
    // It may exit without reading all of its input.
    child.stdin.on("error", () => undefined).end(run.input);
    const errors = collectEnds(child.stderr);
    try {
      const output =
        run.read === undefined
          ? collect(child.stdout, run.maxOutputBytes ?? defaultMaxOutputBytes)
          : run.read(child.stdout).then(() => Buffer.alloc(0));
      const [stdout, code] = await Promise.all([output, closed]);
      run.signal.throwIfAborted();
      if (exceeded !== undefined)
        throw new AppError(gitErrors.GIT_TOO_LARGE, `git ${exceeded} and was ended`);
      return { code, stdout, stderr: errors() };
    } catch (thrown) {
      run.signal.throwIfAborted();
      throw thrown;
    } finally {
      kill();
      run.signal.removeEventListener("abort", kill);
      watched?.end();
    }
  };
}

async function collect(stream: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes)
      throw new AppError(
        gitErrors.GIT_TOO_LARGE,
        `git printed more than ${Math.round(maxBytes / 1024 / 1024)} MiB: the repository has too many references or files`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The text so far; of a long one its beginning and end. */
function collectEnds(stream: Readable): () => string {
  let head = "";
  let tail = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    if (head.length < maxErrorBytes) head += text;
    else tail = (tail + text).slice(-maxErrorBytes);
  });
  return () => (tail === "" ? head : `${head}…${tail}`);
}
