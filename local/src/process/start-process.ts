/**
 * Starts one supervised process: in a group of its own, so that Ctrl-C in a terminal reaches only us and we end the
 * parts in order, and with its output in a log file, so that it can outlive us (`--detach`).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";
import { type EndOptions, endProcess } from "./end-process.ts";
import { identityOf, type ProcessIdentity } from "./identity.ts";
import { diskFullError, logTail } from "./process-errors.ts";
import { layers, type ProcessRecord, type Watchers } from "./process-record.ts";

export interface ProcessSpec extends Watchers {
  /** For messages: `etcd of cluster-1`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** All of the environment: nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly logFile: string;
  /** When it ends among others: one of `layers`; `fleet`, the first to end, when absent. */
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
  /** What to remember of it. */
  readonly record: ProcessRecord;
  /** Resolves when the process has ended, whatever the reason; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Set once it has ended. */
  exit(): ProcessExit | undefined;
  /** Ends it; harmless when it has ended. */
  stop(options?: EndOptions): Promise<void>;
  /** Lets this program end while the process goes on. */
  detach(): void;
}

/** Starts a process and resolves once the kernel has it; that it works is for the caller to find out. */
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
    // A process that is gone already has no identity; nothing will ever match this one.
    const identity = (await identityOf(pid)) ?? { pid, startedAt: "ended" };
    const layer = spec.layer ?? layers.fleet;
    const record: ProcessRecord = {
      name: spec.name,
      ...identity,
      logFile: spec.logFile,
      layer,
    };
    // The journal first: it is what survives both of us.
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

/** The error for a process that ended when it should not have, with the last lines of its log. */
export async function exitError(child: RunningProcess): Promise<AppError> {
  const exit = child.exit();
  const how = exit?.signal
    ? `was ended by ${exit.signal}`
    : `ended with code ${exit?.code ?? "unknown"}`;
  const full = diskFullError(
    await logTail(child.logFile, 200),
    `run ${child.name}`,
    "a fleet needs about 1 GB",
  );
  if (full !== undefined) return full;
  const tail = await logTail(child.logFile);
  return new AppError(
    localErrors.PROCESS_FAILED,
    `${child.name} ${how}; its log ${child.logFile} ends with:\n${tail === "" ? "(nothing)" : tail}`,
  );
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
