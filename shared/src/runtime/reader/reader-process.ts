/** One reader: a child process that does one task at a time. A task that exceeds a limit ends it. */
import { type ChildProcess, spawn } from "node:child_process";
import { messageOf } from "../errors/index.ts";
import {
  killGroup,
  type ProcessLimits,
  type ProcessWatch,
  renice,
  type WatchedProcess,
} from "../process/index.ts";
import { parseReply, type ReaderReply } from "./reply.ts";

export interface ReaderProcessOptions {
  readonly watch: ProcessWatch;
  /** For one task. */
  readonly limits: ProcessLimits;
  /** A task may also not take longer than this, whatever it waits for. */
  readonly timeoutMs: number;
  /** The whole environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** The path of its program, which calls `serveTasks`. */
  readonly program: string;
  /** The limit of the longest answer. */
  readonly maxReplyBytes: number;
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
  /** `task`: what JSON can have. */
  run(task: unknown): Promise<ReaderReply | ReaderEnded>;
  /** Resolves once it has ended. */
  close(): Promise<void>;
}

/** A third of what other processes get: starting it costs more than a task, before the limits of a task count. */
const startNice = 5;

/** The part of its memory limit that V8 gets: buffers are outside of its heap. */
const heapPart = 0.5;

export function startReader(options: ReaderProcessOptions): ReaderProcess {
  const { watch, limits, timeoutMs, maxReplyBytes } = options;
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${Math.floor((limits.memoryBytes * heapPart) / 1024 / 1024)}`,
      options.program,
    ],
    { env: { ...options.environment }, detached: true, stdio: ["pipe", "pipe", "ignore"] },
  );
  if (child.pid !== undefined) renice(child.pid, startNice);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let pending: ((result: ReaderReply | ReaderEnded) => void) | undefined;
  /** The pieces of an answer that is not complete: the whole of it is searched and joined once, however many pieces it has. */
  let pieces: string[] = [];
  let length = 0;
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
    const lineEnd = chunk.indexOf("\n");
    pieces.push(lineEnd < 0 ? chunk : chunk.slice(0, lineEnd));
    length += chunk.length;
    if (lineEnd < 0) {
      if (length > maxReplyBytes) kill("printed too much");
      return;
    }
    const line = pieces.join("");
    pieces = [];
    length = 0;
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

/** An idle reader does not keep the program running. */
function setReferenced(child: ChildProcess, isReferenced: boolean): void {
  const handles = [child, child.stdin, child.stdout];
  for (const handle of handles as readonly ({ ref?(): void; unref?(): void } | null)[]) {
    if (isReferenced) handle?.ref?.();
    else handle?.unref?.();
  }
}
