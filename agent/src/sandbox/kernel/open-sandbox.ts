/** Asks the launcher what the kernel of this machine has, decides, and logs what is missing. */
import { execFile } from "node:child_process";
import { release } from "node:os";
import { promisify } from "node:util";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Sandbox } from "../run/index.ts";
import { decideSandbox, type Kernel, type SandboxLevel } from "./decide-sandbox.ts";

export interface OpenSandboxOptions {
  /** The program of the launcher: a path, or a name on the PATH of `environment`. */
  readonly launcher: string;
  /** The environment of the runs. */
  readonly environment: Readonly<Record<string, string>>;
  /** The program to be run, for the log. */
  readonly program: string;
  readonly least: SandboxLevel;
  readonly log: Pick<Log, "warn">;
}

/** It takes some milliseconds. */
const timeoutMs = 10_000;

/** Logs one warning where a program is run with less than the whole sandbox. A launcher that cannot be run counts as no Landlock. */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox> {
  const { launcher, program, least, log } = options;
  const kernel = await readKernel(options);
  const { sandbox, missing } = decideSandbox(kernel, { launcher, least });
  if (missing.length > 0)
    log.warn(
      { program, kernel: kernel.release, abi: kernel.abi, reason: kernel.reason, missing },
      "the program runs without the whole sandbox, because this kernel has too few rules; see docs/operations.md",
    );
  return sandbox;
}

async function readKernel({
  launcher,
  environment,
}: Pick<OpenSandboxOptions, "launcher" | "environment">): Promise<Kernel> {
  const kernel = { release: release() };
  try {
    const options = { env: { ...environment }, timeout: timeoutMs };
    const { stdout, stderr } = await promisify(execFile)(launcher, ["--print-abi"], options);
    const abi = Number(stdout);
    if (Number.isInteger(abi) && stdout.trim() !== "")
      return { ...kernel, abi, ...(abi === 0 && { reason: stderr.trim() }) };
    return { ...kernel, abi: 0, reason: `the launcher ${launcher} printed no number` };
  } catch (thrown) {
    const reason = `the launcher could not be run: ${messageOf(thrown)}; check the path that the agent was given with --confine`;
    return { ...kernel, abi: 0, reason };
  }
}
