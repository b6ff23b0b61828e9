/**
 * Runs the Go program in shared/golden, which is built with the libraries that Helm uses, to get the expected results.
 * Golden files have inputs and results for machines without Go.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AppError } from "../../../runtime/errors/index.ts";

/** The inputs of one run; each of `constraints` is checked against each of `versions`. */
export interface Questions {
  readonly versions: readonly string[];
  readonly pairs: readonly (readonly [string, string])[];
  readonly constraints: readonly string[];
  readonly selections: readonly SelectionQuestion[];
  readonly yaml: readonly string[];
  /** Texts that Go is to write as YAML. */
  readonly styles?: readonly string[];
  readonly values?: readonly ValuesQuestion[];
  readonly starts?: readonly StartsQuestion[];
}

/** The first starts of a schedule after a time in ms since 1970. */
export interface StartsQuestion {
  readonly expression: string;
  readonly zone: string;
  readonly after: number;
  readonly count: number;
}

/** Templates of values, and their data, which are not in the golden files. */
export interface ValuesQuestion {
  readonly values?: Readonly<Record<string, unknown>>;
  readonly templateValues?: Readonly<Record<string, string>>;
  readonly context?: Readonly<Record<string, unknown>>;
}

export interface SelectionQuestion {
  readonly kind: "index" | "tags";
  readonly available: readonly string[];
  readonly constraint: string;
}

/** One result for each input, in the same order; an area without inputs is absent. */
export interface Answers {
  readonly versions?: readonly { readonly lenient: string; readonly strict: boolean }[];
  readonly pairs?: readonly number[];
  /** `matches` has for each version "1", "0", or "-" where it is invalid. */
  readonly constraints?: readonly { readonly error?: string; readonly matches?: string }[];
  readonly selections?: readonly { readonly error?: string; readonly text?: string }[];
  /** `unstable`: two keys become the same text, and which of them stays is random. */
  readonly yaml?: readonly {
    readonly error?: string;
    readonly json?: string;
    readonly unstable?: true;
  }[];
  /** What Go wrote for a text as a value, as an item of a list and as a key. */
  readonly styles?: readonly {
    readonly value: string;
    readonly item: string;
    readonly key: string;
  }[];
  readonly values?: readonly { readonly error?: string; readonly json?: string }[];
  /** In ms since 1970. */
  readonly starts?: readonly { readonly error?: string; readonly starts?: readonly number[] }[];
}

/** The program, or why it cannot be built here. */
export type Oracle =
  | {
      readonly kind: "ready";
      ask(questions: Partial<Questions>): Promise<Answers>;
      [Symbol.asyncDispose](): Promise<void>;
    }
  | { readonly kind: "missing"; readonly why: string; [Symbol.asyncDispose](): Promise<void> };

/** The folder of the Go program and the golden files. */
export const goldenDir: string = fileURLToPath(new URL("../../../../golden/", import.meta.url));

/** Builds the Go program, if Go is installed and its modules are available. */
export async function buildOracle(): Promise<Oracle> {
  try {
    await run("go", ["mod", "download"]);
  } catch (thrown) {
    const why = `go is not installed, or its modules are not available: ${AppError.from(thrown).message.split("\n", 1).join("")}`;
    return { kind: "missing", why, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const dir = await mkdtemp(join(tmpdir(), "golden-"));
  const program = join(dir, "golden");
  await run("go", ["build", "-buildvcs=false", "-o", program, "."]);
  return {
    kind: "ready",
    ask: async (questions) =>
      JSON.parse(await run(program, [], JSON.stringify(questions))) as Answers,
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true }),
  };
}

/** Nothing is written to a command that reads nothing: it may have exited by then, and that would be an error. */
async function run(command: string, args: readonly string[], input?: string): Promise<string> {
  const running = promisify(execFile)(command, args, { cwd: goldenDir, maxBuffer: 2 ** 28 });
  if (input !== undefined) running.child.stdin?.end(input);
  return (await running).stdout;
}
