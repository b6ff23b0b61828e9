/**
 * Runs a program that reads what tenants wrote: it reads its tree, writes an empty folder of its own, and makes no network connection.
 * What else it may do is named. Without limits of its own the process is in the process group of the one that runs it, whose limits
 * cover both.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { killGroup, type ProcessLimits, type ProcessWatch } from "@flotilla/shared/process";
import { agentErrors } from "../../base/errors/index.ts";
import type { Sandbox } from "./sandbox.ts";

export interface SandboxRun {
  /** A path, or a name on the PATH of `environment`. It has to be linked statically: a loader could start any file. */
  readonly program: string;
  readonly args: readonly string[];
  /** The working directory. The program reads it and everything in it. */
  readonly tree: string;
  /** Where the folder of the run is made: HOME and TMPDIR of the program, which it may write. It is deleted after the run. */
  readonly parent: string;
  /** All further variables: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Paths of other programs that it may start, linked statically as well. */
  readonly executes?: readonly string[];
  /** Further files and folders that it may change. */
  readonly writes?: readonly string[];
  readonly usesUnixSockets?: boolean;
  readonly limited?: SandboxLimits;
}

/** The limits of a program in a process group of its own, which is killed when it ends or exceeds one. */
export interface SandboxLimits {
  readonly watch: ProcessWatch;
  readonly limits: ProcessLimits;
  /** For standard output and standard error each. */
  readonly outputBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type SandboxResult =
  | {
      readonly kind: "ended";
      readonly stdout: string;
      readonly stderr: string;
      /** The code or signal with which it has ended, for messages; undefined: successfully. */
      readonly failure: string | undefined;
      /** Undefined after a signal. */
      readonly code: number | undefined;
    }
  /** `what` it did, for messages: it was killed. */
  | { readonly kind: "exceeded"; readonly what: string }
  /** `why` for messages: the program or the launcher is missing or cannot be executed. */
  | { readonly kind: "not-started"; readonly why: string };

/** Throws SANDBOX_UNAVAILABLE where the kernel has less than what is needed; nothing has run then. */
export async function runInSandbox(sandbox: Sandbox, run: SandboxRun): Promise<SandboxResult> {
  const home = await mkdtemp(join(run.parent, "home-"));
  try {
    const { isConfined, program, args } = commandOf(sandbox, run, home);
    const result = await start({ program, args, run, home });
    return isConfined ? explained(result) : result;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

function commandOf(
  sandbox: Sandbox,
  { program, args, tree, executes = [], writes = [], usesUnixSockets }: SandboxRun,
  home: string,
): Command & { readonly isConfined: boolean } {
  switch (sandbox.kind) {
    case "confined": {
      const rules = [
        `--abi=${sandbox.abi}`,
        `--read=${tree}`,
        ...[home, ...writes].map((path) => `--write=${path}`),
        ...executes.map((path) => `--execute=${path}`),
        ...(usesUnixSockets === true ? ["--unix-sockets"] : []),
      ];
      const all = [...rules, "--", program, ...args];
      return { isConfined: true, program: sandbox.launcher, args: all };
    }
    case "unconfined":
      return { isConfined: false, program, args };
    case "refused":
      throw unavailable(`run ${program}`, sandbox.why);
  }
}

async function start({
  program,
  args,
  run,
  home,
}: Command & { readonly run: SandboxRun; readonly home: string }): Promise<SandboxResult> {
  const { limited } = run;
  limited?.signal.throwIfAborted();
  const child = spawn(program, args, {
    cwd: run.tree,
    env: { ...run.environment, HOME: home, TMPDIR: home },
    stdio: ["ignore", "pipe", "pipe"],
    detached: limited !== undefined,
  });
  const ended = new Promise<{ code: number | null; signal: string | null } | { why: string }>(
    (resolve) => {
      child.once("error", (thrown) => resolve({ why: messageOf(thrown) }));
      child.once("close", (code, signal) => resolve({ code, signal }));
    },
  );
  const guard = limited === undefined ? undefined : guarded(child, limited);
  const read = (output: Readable) => textOf(output, limited?.outputBytes, guard?.end);
  const outputs = Promise.all([read(child.stdout), read(child.stderr), ended]);
  const [stdout, stderr, end] = await outputs.finally(() => guard?.stop());
  if ("why" in end) return { kind: "not-started", why: end.why };
  limited?.signal.throwIfAborted();
  if (guard?.exceeded !== undefined) return { kind: "exceeded", what: guard.exceeded };
  const { code, signal } = end;
  const failure = code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`;
  return { kind: "ended", stdout, stderr, failure, code: code ?? undefined };
}

/** Stops at the first byte after `maxBytes`, and tells `onExceeded`. */
async function textOf(
  output: Readable,
  maxBytes = Number.POSITIVE_INFINITY,
  onExceeded?: (what: string) => void,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      onExceeded?.(`printed more than ${maxBytes / 1024 / 1024} MiB`);
      break;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

interface Guard {
  /** Kills it. */
  readonly end: (what: string) => void;
  /** What it did, after which it was killed. */
  readonly exceeded: string | undefined;
  /** Kills what is left of its group. */
  stop(): void;
}

/** Kills the process group of a child that exceeds a limit. */
function guarded({ pid }: ChildProcess, limited: SandboxLimits): Guard {
  const { watch, limits, timeoutMs, signal } = limited;
  let exceeded: string | undefined;
  const end = (what: string): void => {
    exceeded ??= what;
    killGroup(pid, "SIGKILL");
  };
  const kill = (): void => killGroup(pid, "SIGKILL");
  const timer = setTimeout(() => end(`took more than ${timeoutMs / 1_000} s`), timeoutMs);
  signal.addEventListener("abort", kill, { once: true });
  const watched = pid === undefined ? undefined : watch.start(pid, limits, end);
  return {
    end,
    get exceeded() {
      return exceeded;
    },
    stop() {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      watched?.end();
      kill();
    },
  };
}

/** Exit codes of the launcher itself, after which nothing has run. */
const launcherCodes = { invalid: 124, unsupported: 125, notStarted: 126 } as const;

/** The result of a run by the launcher. A program that ends with one of its codes has failed in any case. */
function explained(result: SandboxResult): SandboxResult {
  if (result.kind === "exceeded") return result;
  if (result.kind === "not-started")
    return { ...result, why: `the launcher of the sandbox: ${result.why}` };
  const why = result.stderr.replace(/^confine: /, "").trim();
  switch (result.code) {
    case launcherCodes.unsupported:
      throw unavailable("start the sandbox", why);
    case launcherCodes.invalid:
    case launcherCodes.notStarted:
      return { kind: "not-started", why };
    default:
      return result;
  }
}

function unavailable(doing: string, why: string): AppError {
  return new AppError(agentErrors.SANDBOX_UNAVAILABLE, `${doing}: ${why}`);
}
