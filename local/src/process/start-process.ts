/**
 * Starts one process: in a process group of its own, so that Ctrl-C in a terminal reaches only this program, which ends its
 * processes in order; and with its output in a log file, so that it can outlive this program (`--detach`).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";
import { type EndOptions, endProcess } from "./end-process.ts";
import { identityOf, type ProcessIdentity } from "./identity.ts";
import { layers, type ProcessRecord, type Watchers } from "./process-record.ts";

export interface ProcessSpec extends Watchers {
  /** For messages: `etcd of cluster-1`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly logFile: string;
  /** Shutdown order: one of `layers`; `fleet`, the first to end, when absent. */
  readonly layer?: number;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly name: string;
  readonly identity: ProcessIdentity;
  readonly logFile: string;
  readonly layer: number;
  /** The record by which another command can end it. */
  readonly record: ProcessRecord;
  /** Resolves when the process has exited; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Its exit; undefined while it runs. */
  exit(): ProcessExit | undefined;
  /** Ends it. Does nothing when it has exited. */
  stop(options?: EndOptions): Promise<void>;
  /** Allows this program to exit while the process keeps running. */
  detach(): void;
}

/** Resolves once the process exists; the caller checks that it is ready. Throws PROCESS_FAILED. */
export async function startProcess(spec: ProcessSpec): Promise<RunningProcess> {
  await mkdir(dirname(spec.logFile), { recursive: true });
  const log = await open(spec.logFile, "a", 0o600);
  try {
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: { ...spec.env },
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    const pid = await spawned(child, spec);
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    let exit: ProcessExit | undefined;
    void exited.then((value) => {
      exit = value;
    });
    // A process that has already exited has no identity; this one matches no process.
    const identity = (await identityOf(pid)) ?? { pid, startedAt: "ended" };
    const layer = spec.layer ?? layers.fleet;
    const record: ProcessRecord = {
      name: spec.name,
      ...identity,
      logFile: spec.logFile,
      layer,
    };
    // The journal first: it outlives both this program and the reaper.
    spec.journal?.watch(record);
    spec.reaper?.watch(record);
    return {
      name: spec.name,
      identity,
      logFile: spec.logFile,
      layer,
      record,
      exited,
      exit: () => exit,
      detach: () => child.unref(),
      async stop(options) {
        if (exit !== undefined) return;
        await endProcess(identity, options);
        await exited;
      },
    };
  } finally {
    await log.close();
  }
}

function spawned(child: ChildProcess, spec: ProcessSpec): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (thrown) => {
      reject(
        new AppError(
          localErrors.PROCESS_FAILED,
          `start ${spec.name} (${spec.command}): ${messageOf(thrown)}`,
          { cause: thrown },
        ),
      );
    });
    child.once("spawn", () => {
      if (child.pid !== undefined) resolve(child.pid);
    });
  });
}
