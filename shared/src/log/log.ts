/** Logging: JSON lines on standard error, one event a line, fields instead of sentences. */
import { type Logger, pino, destination as pinoDestination } from "pino";

/** A logger; narrow it with `child({ bundle, cluster })`. Never give it a secret. */
export type Log = Logger;

/** The levels that `--log-level` takes. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The logger of a process. `name` is the part that speaks (`hub`, `agent`). */
export function createLog(options: { readonly name: string; readonly level: LogLevel }): Log {
  return pino(
    {
      name: options.name,
      level: options.level,
      base: { name: options.name },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pinoDestination({ dest: 2, sync: true }),
  );
}

/** A logger that says nothing, for tests and libraries used without one. */
export function silentLog(): Log {
  return pino({ level: "silent" });
}
