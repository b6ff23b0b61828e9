/** Logging: JSON lines on standard error, one event per line, with fields. */
import { type Logger, type LoggerOptions, pino, destination as pinoDestination } from "pino";
import { type Clock, formatTimeMs } from "../time/index.ts";

/** A logger; narrow it with `child({ bundle, cluster })`. Never give it a secret. */
export type Log = Logger;

/** The levels that `--log-level` takes. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The logger of a process; `name` is its component (`hub`, `agent`). */
export function createLog(options: { readonly name: string; readonly level: LogLevel }): Log {
  return pino(optionsOf(options.name, options.level), pinoDestination({ dest: 2, sync: true }));
}

function optionsOf(name: string, level: LogLevel): LoggerOptions {
  return {
    name,
    level,
    base: { name },
    timestamp: () => `,"time":"${formatTimeMs(Date.now())}"`,
    formatters: { level: (label) => ({ level: label }) },
  };
}

/** A logger whose lines go to a function. */
export function lineLog(options: {
  readonly name: string;
  readonly level: LogLevel;
  readonly write: (line: string) => void;
}): Log {
  const { name, level, write } = options;
  return pino(optionsOf(name, level), { write });
}

/** A logger that discards everything; for tests. */
export function silentLog(): Log {
  return pino({ level: "silent" });
}

/** Often enough for a log that is rotated every day, or of which only the last hour is kept. */
const repeatEveryMs = 10 * 60_000;

/** Decides which messages of a retrying loop are logged. */
export interface RepeatFilter {
  /** Whether the message differs from the last one, or the last one is ten minutes old; it counts as logged then. */
  isNew(message: string): boolean;
  /** To be called after a success: the next message is new. */
  reset(): void;
}

export function createRepeatFilter(clock: Pick<Clock, "monotonic">): RepeatFilter {
  let last: { readonly message: string; readonly at: number } | undefined;
  return {
    isNew(message) {
      const at = clock.monotonic();
      if (last?.message === message && at - last.at < repeatEveryMs) return false;
      last = { message, at };
      return true;
    },
    reset() {
      last = undefined;
    },
  };
}
