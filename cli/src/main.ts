/** The `flotilla` command. The code of a subcommand is loaded when it runs. */
import { AppError } from "@flotilla/shared/errors";
import { createProgram } from "./commands/index.ts";
import { readCliConfig } from "./config.ts";

/** Runs one command line. Prints an error as one line on standard error and sets exit code 1. */
export async function run(args: readonly string[]): Promise<void> {
  const program = createProgram(readCliConfig());
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (thrown) {
    process.stderr.write(`flotilla: ${AppError.from(thrown).message}\n`);
    process.exitCode = 1;
  }
}
