/** Signals that end a command, and the exit codes that shells expect of it then. */
import { constants } from "node:os";

export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const endSignals: readonly EndSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** As a shell reports it: 130 for Ctrl-C. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/**
 * Aborts on the first signal, and sets the exit code of the process to the signal's. `onRepeat` is called for each further one:
 * the command is still ending.
 */
export function abortOnSignals({
  reason,
  onFirst = () => undefined,
  onRepeat,
}: {
  readonly reason?: Error;
  readonly onFirst?: () => void;
  readonly onRepeat: (signal: EndSignal) => void;
}): AbortSignal {
  const controller = new AbortController();
  for (const signal of endSignals)
    process.on(signal, () => {
      if (controller.signal.aborted) return onRepeat(signal);
      process.exitCode = exitCodeOf(signal);
      onFirst();
      controller.abort(reason);
    });
  return controller.signal;
}
