/**
 * Runs a program that reads what tenants wrote: it reads its tree, writes an empty folder of its own, starts no other program and makes
 * no network connection. Memory and processor time are not limited here: the process is in the process group of the one that runs
 * it, whose limits cover both.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { AppError, messageOf } from "@flotilla/shared/errors";
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
}

export type SandboxResult =
  | {
      readonly kind: "ended";
      readonly stdout: string;
      readonly stderr: string;
      /** The code or signal with which it has ended, for messages; undefined: successfully. */
      readonly failure: string | undefined;
    }
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
  { program, args, tree }: SandboxRun,
  home: string,
): Command & { readonly isConfined: boolean } {
  switch (sandbox.kind) {
    case "confined": {
      const rules = [`--abi=${sandbox.abi}`, `--read=${tree}`, `--write=${home}`];
      const all = [...rules, "--", program, ...args];
      return { isConfined: true, program: sandbox.launcher, args: all };
    }
    case "unconfined":
      return { isConfined: false, program, args };
    case "refused":
      throw unavailable(`run ${program}`, sandbox.why);
  }
}

type Ended = SandboxResult & { readonly code?: number | null };

async function start({
  program,
  args,
  run,
  home,
}: Command & { readonly run: SandboxRun; readonly home: string }): Promise<Ended> {
  const child = spawn(program, args, {
    cwd: run.tree,
    env: { ...run.environment, HOME: home, TMPDIR: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<{ code: number | null; signal: string | null } | { why: string }>(
    (resolve) => {
      child.once("error", (thrown) => resolve({ why: messageOf(thrown) }));
      child.once("close", (code, signal) => resolve({ code, signal }));
    },
  );
  const [stdout, stderr, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if ("why" in end) return { kind: "not-started", why: end.why };
  const { code, signal } = end;
  const failure = code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`;
  return { kind: "ended", stdout, stderr, failure, code };
}

/** Exit codes of the launcher itself, after which nothing has run. */
const launcherCodes = { invalid: 124, unsupported: 125, notStarted: 126 } as const;

/** The result of a run by the launcher. A program that ends with one of its codes has failed in any case. */
function explained(result: Ended): SandboxResult {
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
