/** Logging: JSON lines on standard error, one event a line, fields instead of sentences. */
import { type Logger, type LoggerOptions, pino, destination as pinoDestination } from "pino";

/** A logger; narrow it with `child({ bundle, cluster })`. Never give it a secret. */
export type Log = Logger;

/** The levels that `--log-level` takes. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The logger of a process. `name` is the part that speaks (`hub`, `agent`). */
export function createLog(options: { readonly name: string; readonly level: LogLevel }): Log {
  return pino(optionsOf(options.name, options.level), pinoDestination({ dest: 2, sync: true }));
}

function optionsOf(name: string, level: LogLevel): LoggerOptions {
  return {
    name,
    level,
    base: { name },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
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

/** A logger that says nothing, for tests and libraries used without one. */
export function silentLog(): Log {
  return pino({ level: "silent" });
}
