/** Asks before something is changed. */
import { createInterface } from "node:readline/promises";
import { AppError } from "@flotilla/shared/errors";
import { cliErrors } from "../errors.ts";

/** Where a command asks. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean | undefined };
}

/** Whether somebody can answer. */
export function isInteractive({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/**
 * For commands that jobs run as they are: says what follows and asks where somebody can answer, unless `yes`. Returns whether it was said.
 * Throws NOT_CONFIRMED.
 */
export async function confirmIfAsked(
  says: string,
  {
    terminal,
    yes,
    print,
  }: {
    readonly terminal: Terminal;
    readonly yes: boolean;
    readonly print: (line: string) => void;
  },
): Promise<boolean> {
  if (yes || !isInteractive(terminal)) return false;
  print(says);
  await confirm("Continue?", { terminal, instead: "add --yes to continue without" });
  return true;
}

/** Resolves when the answer is `y` or `yes`. Throws NOT_CONFIRMED; without a terminal at once, with what to add in place of an answer. */
export async function confirm(
  question: string,
  { terminal, instead }: { readonly terminal: Terminal; readonly instead: string },
): Promise<void> {
  if (!isInteractive(terminal))
    throw new AppError(
      cliErrors.NOT_CONFIRMED,
      `nothing was changed: there is no terminal to ask on; ${instead}`,
    );
  const lines = createInterface({ input: terminal.input, output: terminal.output });
  // At the end of the input there is no answer.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  throw new AppError(cliErrors.NOT_CONFIRMED, "nothing was changed");
}
