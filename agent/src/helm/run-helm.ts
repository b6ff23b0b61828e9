/** Runs the Helm program once. Nothing secret is ever an argument: values go in on standard input. */
import { spawn } from "node:child_process";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { agentErrors } from "../errors.ts";

export interface HelmRun {
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly signal: AbortSignal;
  /** Told the process id as soon as there is one. */
  readonly onStart?: (pid: number) => void;
}

export interface HelmResult {
  readonly code: number | null;
  readonly stdout: string;
  /** The end of it. */
  readonly stderr: string;
}

export type RunHelm = (run: HelmRun) => Promise<HelmResult>;

export interface HelmProgram {
  readonly path: string;
  /** All of the environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** How long Helm may take to end after SIGTERM, which it uses to mark its release as failed, or to undo what it did. */
  readonly graceMs?: number;
}

/** A release with a large chart prints all of it. */
const stdoutLimit = 64 * 1024 * 1024;
const stderrLimit = 64 * 1024;

const usualGraceMs = 10_000;

/** Rejects only when Helm could not be run at all; what it says of itself is in the result. */
export function createRunHelm(program: HelmProgram): RunHelm {
  const { graceMs = usualGraceMs } = program;
  return ({ args, stdin, signal, onStart }) =>
    new Promise((resolve, reject) => {
      const child = spawn(program.path, args, {
        env: { ...program.environment },
        // A group of its own: plugins that Helm starts end with it.
        detached: true,
        stdio: ["pipe", "pipe", "pipe"],
      });
      const stdout: Buffer[] = [];
      let stdoutBytes = 0;
      let stderr = "";
      let killTimer: NodeJS.Timeout | undefined;

      const end = (): void => {
        killGroup(child.pid, "SIGTERM");
        killTimer = setTimeout(() => killGroup(child.pid, "SIGKILL"), graceMs);
      };
      child.once("spawn", () => {
        if (child.pid !== undefined) onStart?.(child.pid);
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
      });
      child.stdout.on("data", (chunk: Buffer) => {
        stdoutBytes += chunk.length;
        if (stdoutBytes <= stdoutLimit) stdout.push(chunk);
      });
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        stderr = (stderr + chunk).slice(-stderrLimit);
      });
      // Helm may end without reading all of its input.
      child.stdin.on("error", () => undefined);
      child.stdin.end(stdin ?? "");
      const settle = (): void => {
        clearTimeout(killTimer);
        signal.removeEventListener("abort", end);
      };
      child.once("error", (thrown) => {
        settle();
        reject(
          new AppError(agentErrors.HELM_UNAVAILABLE, `run ${program.path}: ${messageOf(thrown)}`, {
            cause: thrown,
          }),
        );
      });
      child.once("close", (code) => {
        settle();
        resolve({
          code,
          stdout: stdoutBytes > stdoutLimit ? "" : Buffer.concat(stdout).toString(),
          stderr,
        });
      });
    });
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH")) throw thrown;
  }
}

/** What a person needs of Helm's complaint: from its `Error:` on, in one line. Pure. */
export function complaintOf(result: HelmResult): string {
  const lines = result.stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(level=|time=|WARNING:|[WI]\d{4} )/.test(line));
  const at = lines.findLastIndex((line) => line.startsWith("Error: "));
  // A schema's complaints follow the line that announces them.
  const said = lines
    .slice(Math.max(0, at < 0 ? lines.length - 1 : at))
    .join("; ")
    .replace(/^Error: /, "");
  return said === ""
    ? `helm ended with code ${result.code ?? "none"} and said nothing`
    : said.slice(0, 4_000);
}
