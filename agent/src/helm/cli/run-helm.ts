/** Runs the Helm program once. No argument is secret: values are passed on standard input. */

import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { tmpdir } from "node:os";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { explainDenials, type GrantOf } from "@flotilla/shared/kube/client";
import {
  helmStartEnvironment,
  killGroup,
  type ProcessLimits,
  type ProcessWatch,
  renice,
  type WatchedProcess,
} from "@flotilla/shared/process";
import { cutText } from "@flotilla/shared/text";
import { agentErrors } from "../../base/errors/index.ts";
import { impersonatedUser, limitsWithChildren } from "../../base/index.ts";
import { openInput } from "./helm-input.ts";
import { loggedText } from "./logged-lines.ts";
import type { ProcessRecords } from "./process-records.ts";

export interface HelmRun {
  readonly args: readonly string[];
  readonly stdin?: string;
  /** Besides the program's own environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Helm starts other processes, to which its limits apply as well. */
  readonly startsProcesses?: boolean;
  /** It gets the processor time that other runs leave: nothing is installed by it. */
  readonly isBackground?: boolean;
  readonly signal: AbortSignal;
}

export interface HelmResult {
  readonly code: number | null;
  readonly stdout: string;
  /** Its last 64 KiB, with a sentence in place of each denial of the API server. */
  readonly stderr: string;
  /** What it did that exceeds a limit, for messages: it was killed. */
  readonly exceeded?: string;
}

/** How Helm connects to the API server, and the environment variables that it inherits from the agent. */
export interface HelmSettings {
  /** The part of the agent's environment that it gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absent: in-cluster. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** The limit of its memory. */
  readonly memoryBytes: number;
}

/** The whole environment of Helm. `home`: a directory for its caches. Pure. */
export function helmEnvironment(
  { environment, kubeconfig, context, memoryBytes }: HelmSettings,
  home: string,
): Readonly<Record<string, string>> {
  return {
    ...helmStartEnvironment,
    GOMEMLIMIT: `${Math.min(400, Math.floor((memoryBytes / 1024 / 1024) * 0.75))}MiB`,
    ...environment,
    HOME: home,
    ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }),
    ...(context !== undefined && { HELM_KUBECONTEXT: context }),
  };
}

export type RunHelm = (run: HelmRun) => Promise<HelmResult>;

export interface HelmProgram {
  readonly path: string;
  /** The whole environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Between SIGTERM and SIGKILL. Helm uses it to mark its release as failed, or to roll back. */
  readonly graceMs?: number;
  /** The records of the processes that run. */
  readonly records?: Pick<ProcessRecords, "started" | "ended">;
  /** Throws if Helm may not be run. */
  readonly assertAllowed?: () => void;
  /** Aborts when no process may run any longer: they are killed without time to end. */
  readonly forbidden?: AbortSignal;
  /** Absent: none, except of output. */
  readonly limited?: { readonly watch: ProcessWatch; readonly limits: ProcessLimits } | undefined;
  /** For messages: what grants a right to the agent's own account. */
  readonly grantOf?: GrantOf | undefined;
}

/** Helm prints the whole release, with the chart. */
const stdoutLimitMiB = 64;
const stdoutLimit = stdoutLimitMiB * 1024 * 1024;
const stderrLimit = 64 * 1024;

const defaultGraceMs = 10_000;
/** As a run that has used much processor time gets it. */
const backgroundNice = 15;

/** Throws HELM_UNAVAILABLE if Helm cannot be started, or gets no input; a failure of Helm is a result. */
export function createRunHelm(program: HelmProgram): RunHelm {
  const { graceMs = defaultGraceMs, limited, records, assertAllowed, forbidden } = program;
  return ({ args, stdin, environment, startsProcesses, isBackground, signal }) =>
    new Promise((resolve, reject) => {
      assertAllowed?.();
      const input = stdin === undefined ? undefined : inputOf(program, stdin);
      const child = spawn(program.path, args, {
        env: { ...program.environment, ...environment },
        // A process group of its own: plugins that Helm starts are killed with it.
        detached: true,
        stdio: [input ?? "ignore", "pipe", "pipe"],
      });
      if (input !== undefined) closeSync(input);
      const stdout: Buffer[] = [];
      let stdoutBytes = 0;
      let stderr = "";
      let killTimer: NodeJS.Timeout | undefined;
      let exceeded: string | undefined;
      let watched: WatchedProcess | undefined;
      let recorded: Promise<void> | undefined;

      const kill = (): void => killGroup(child.pid, "SIGKILL");
      const end = (): void => {
        killGroup(child.pid, "SIGTERM");
        killTimer = setTimeout(kill, graceMs);
      };
      child.once("spawn", () => {
        if (child.pid !== undefined) {
          if (isBackground === true) renice(child.pid, backgroundNice);
          watched = limited?.watch.start(
            child.pid,
            startsProcesses === true ? limitsWithChildren(limited.limits) : limited.limits,
            (what) => {
              exceeded ??= what;
            },
          );
          recorded = records?.started(child.pid);
        }
        if (forbidden?.aborted === true) kill();
        else forbidden?.addEventListener("abort", kill, { once: true });
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
      });
      child.stdout?.on("data", (chunk: Buffer) => {
        stdoutBytes += chunk.length;
        if (stdoutBytes <= stdoutLimit) stdout.push(chunk);
        else if (exceeded === undefined) {
          exceeded = `printed more than ${stdoutLimitMiB} MiB`;
          kill();
        }
      });
      child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
        stderr = (stderr + chunk).slice(-stderrLimit);
      });
      const settle = (): void => {
        clearTimeout(killTimer);
        watched?.end();
        signal.removeEventListener("abort", end);
        forbidden?.removeEventListener("abort", kill);
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
        const result = {
          code,
          stdout: stdoutBytes > stdoutLimit ? "" : Buffer.concat(stdout).toString(),
          stderr: explainDenials(stderr, grantOfRun(program, args)),
          ...(exceeded !== undefined && { exceeded }),
        };
        const { pid } = child;
        if (recorded === undefined || pid === undefined) resolve(result);
        else void recorded.then(() => records?.ended(pid)).then(() => resolve(result));
      });
    });
}

function inputOf({ path }: HelmProgram, stdin: string): number {
  try {
    return openInput(tmpdir(), stdin);
  } catch (thrown) {
    throw new AppError(
      agentErrors.HELM_UNAVAILABLE,
      `run ${path}: its values cannot be stored: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** A denied impersonation names the agent's account; all else is denied to the account that Helm impersonates, if any. */
function grantOfRun({ grantOf }: HelmProgram, args: readonly string[]): GrantOf {
  const user = impersonatedUser(args);
  return (right) => (right.user === user ? undefined : grantOf?.(right));
}

/** Helm's error, and what it has logged last before it failed. Pure. */
export function helmFailureOf(result: HelmResult): string {
  const error = helmErrorOf(result);
  const logged = loggedText(result.stderr, error);
  return logged === "" ? error : `${error}; Helm logged: ${logged}`;
}

/** Helm's error message: its standard error from `Error:` on, in one line. Pure. */
export function helmErrorOf(result: HelmResult): string {
  if (result.exceeded !== undefined) return `helm ${result.exceeded} and was killed`;
  const lines = result.stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(level=|time=|WARNING:|[WI]\d{4} )/.test(line));
  const at = lines.findLastIndex((line) => line.startsWith("Error: "));
  // Errors of a values schema follow the `Error:` line.
  const message = lines
    .slice(Math.max(0, at < 0 ? lines.length - 1 : at))
    .join("; ")
    .replace(/^Error: /, "");
  return message === ""
    ? `helm exited with code ${result.code ?? "none"} and printed no error`
    : cutText(message, 4_000);
}
