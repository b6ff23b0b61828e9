/** One reader: a child process that does one task at a time. A task that exceeds a limit ends it. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { messageOf } from "@flotilla/shared/errors";
import {
  killGroup,
  lowerPriority,
  type ProcessLimits,
  type ProcessWatch,
  type WatchedProcess,
} from "@flotilla/shared/process";
import { maxReleaseBytes } from "../record/index.ts";
import { parseReply, type ReaderReply, type ReaderTask } from "./reader-task.ts";

export interface ReaderProcessOptions {
  readonly watch: ProcessWatch;
  /** For one task. */
  readonly limits: ProcessLimits;
  /** A task may also not take longer than this, whatever it waits for. */
  readonly timeoutMs: number;
  /** The whole environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absent: the program of a reader. */
  readonly program?: string | undefined;
}

/** The reader ended: what it did, for messages. */
export interface ReaderEnded {
  readonly kind: "ended";
  readonly what: string;
}

export interface ReaderProcess {
  readonly hasEnded: boolean;
  /** It has lost its priority by a task that took long, also for those that follow. */
  readonly isSlow: boolean;
  /** The number of tasks that it was given. */
  readonly tasks: number;
  run(task: ReaderTask): Promise<ReaderReply | ReaderEnded>;
  /** Resolves once it has ended. */
  close(): Promise<void>;
}

/** The longest answer is a release. */
const maxReplyBytes = 1.5 * maxReleaseBytes;

/** A third of what other processes get: starting it costs more than a task, before the limits of a task count. */
const startNice = 5;

/** Of the limit of its memory, for V8: buffers are outside of its heap. */
const heapPart = 0.5;

export function startReader(options: ReaderProcessOptions): ReaderProcess {
  const { watch, limits, timeoutMs } = options;
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${Math.floor((limits.memoryBytes * heapPart) / 1024 / 1024)}`,
      // As in the agent: compiled, the file beside this one ends in .js.
      options.program ??
        fileURLToPath(
          new URL(
            import.meta.url.endsWith(".ts") ? "./reader-main.ts" : "./reader-main.js",
            import.meta.url,
          ),
        ),
    ],
    { env: { ...options.environment }, detached: true, stdio: ["pipe", "pipe", "ignore"] },
  );
  if (child.pid !== undefined) lowerPriority(child.pid, startNice);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let pending: ((result: ReaderReply | ReaderEnded) => void) | undefined;
  let output = "";
  let ended: string | undefined;
  let tasks = 0;
  let watched: WatchedProcess | undefined;

  function end(what: string): void {
    ended ??= what;
    pending?.({ kind: "ended", what: ended });
    pending = undefined;
  }

  function kill(what: string): void {
    end(what);
    killGroup(child.pid, "SIGKILL");
  }

  child.once("error", (thrown) => end(`could not be started: ${messageOf(thrown)}`));
  child.once("exit", (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`));
  // It may exit without reading all of its input.
  child.stdin.on("error", () => undefined);
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    const lineEnd = output.indexOf("\n");
    if (lineEnd < 0) {
      if (output.length > maxReplyBytes) kill("printed too much");
      return;
    }
    const line = output.slice(0, lineEnd);
    output = "";
    try {
      pending?.(parseReply(line));
      pending = undefined;
    } catch (thrown) {
      kill(`printed no answer: ${messageOf(thrown)}`);
    }
  });
  setReferenced(child, false);

  return {
    get hasEnded() {
      return ended !== undefined;
    },
    get isSlow() {
      return watched?.isSlow ?? false;
    },
    get tasks() {
      return tasks;
    },
    async run(task) {
      if (ended !== undefined || child.pid === undefined)
        return { kind: "ended", what: ended ?? "could not be started" };
      tasks += 1;
      setReferenced(child, true);
      watched = watch.start(child.pid, limits, end);
      const timeout = setTimeout(() => kill(`took more than ${timeoutMs / 1000} s`), timeoutMs);
      try {
        return await new Promise<ReaderReply | ReaderEnded>((resolve) => {
          pending = resolve;
          child.stdin.write(`${JSON.stringify(task)}\n`);
        });
      } finally {
        clearTimeout(timeout);
        watched.end();
        setReferenced(child, false);
      }
    },
    async close() {
      end("was closed");
      killGroup(child.pid, "SIGKILL");
      if (child.pid !== undefined) await closed;
    },
  };
}

/** An idle reader does not keep the agent running. */
function setReferenced(child: ChildProcess, isReferenced: boolean): void {
  const handles = [child, child.stdin, child.stdout];
  for (const handle of handles as readonly ({ ref?(): void; unref?(): void } | null)[]) {
    if (isReferenced) handle?.ref?.();
    else handle?.unref?.();
  }
}
