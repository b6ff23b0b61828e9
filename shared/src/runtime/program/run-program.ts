/** What the entry points of hub and agent share: signals, the error line, and the exit code. */
import { AppError, commonErrors } from "../errors/index.ts";
import { probe, probeUrl } from "./probe.ts";

/**
 * Runs a program until it ends, fails, or gets SIGTERM or SIGINT: `signal` aborts, and a second signal exits at once. A failure
 * is one line on standard error and exit code 1; wrong usage is exit code 2, with the usage. With `--probe=URL` it only probes.
 */
export async function runProgram(
  name: string,
  usage: string,
  program: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort(new AppError(commonErrors.CANCELLED, `${name} received ${signal}`));
    });
  }
  if (process.argv.includes("--help")) {
    process.stdout.write(usage);
    return;
  }
  const url = probeUrl(process.argv);
  try {
    await (url === undefined ? program(stop.signal) : probe(url));
    process.exitCode = 0;
  } catch (thrown) {
    const error = AppError.from(thrown);
    if (stop.signal.aborted && error.code === commonErrors.CANCELLED.code) return;
    const isUsage = error.code === commonErrors.CONFIG_INVALID.code;
    process.stderr.write(`${name}: ${error.message}\n${isUsage ? `\n${usage}` : ""}`);
    process.exitCode = isUsage ? 2 : 1;
  } finally {
    // Open sockets and timers must not keep the process.
    setTimeout(() => process.exit(), 2_000).unref();
  }
}
