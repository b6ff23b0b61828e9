/** The `flotilla` command. The code of a subcommand is loaded when it runs. */
import { AppError } from "@flotilla/shared/errors";
import { createProgram, exitCodeOf } from "./commands/index.ts";
import { readCliConfig } from "./config.ts";

/**
 * Runs one command line. Prints an error as one line on standard error and sets exit code 1, unless the command has set another one. When
 * what reads its output ends, such as `head`, it ends without a message, as a program that a signal ends. So a command that asks nobody
 * changes first what it changes, and prints afterwards.
 */
export async function run(args: readonly string[]): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodeOf("SIGPIPE"));
    throw error;
  });
  const program = createProgram(readCliConfig());
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (thrown) {
    process.stderr.write(`flotilla: ${AppError.from(thrown).message}\n`);
    process.exitCode ||= 1;
  }
}
