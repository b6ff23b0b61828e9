/** The `flotilla` command as a user runs it: a process of its own, in a folder and a home of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readLocalConfig } from "@flotilla/local/config";
import { type TestScope, testDir } from "@flotilla/local/testing";
import { createChangeSignal } from "./change-signal.ts";

const program = fileURLToPath(new URL("../../../cli/bin/flotilla.js", import.meta.url));

/** Less than the time of a test, so that it fails with what the command printed. */
const timeoutMs = 290_000;

export interface CommandEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when standard output has this text. */
  printed(part: string): Promise<void>;
  /** Rejects, with what it printed, when it does not end in time. */
  readonly ended: Promise<CommandEnd>;
}

export interface Commands {
  /** The folder of the fleet. */
  readonly dir: string;
  start(...args: readonly string[]): RunningCommand;
  run(...args: readonly string[]): Promise<CommandEnd>;
}

/** A fleet that still runs in the folder is stopped after the tests. */
export async function commandsIn(scope: TestScope): Promise<Commands> {
  let endFleet: () => Promise<unknown> = () => Promise.resolve();
  const home = await testDir(scope, () => endFleet());
  const dir = join(home, "fleet");
  await mkdir(join(home, "work"));

  function start(...args: readonly string[]): RunningCommand {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: join(home, "work"),
      env: {
        HOME: home,
        PATH: process.env["PATH"],
        FLOTILLA_DIR: dir,
        FLOTILLA_CACHE: readLocalConfig().cacheDir,
      },
      // A group of its own, which a terminal would send its Ctrl-C to.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { pid } = child;
    if (pid === undefined) throw new Error("flotilla could not be started");
    let stdout = "";
    const signal = createChangeSignal(() => [stdout], timeoutMs);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
      signal.changed();
    });
    const stderr = text(child.stderr);
    let end: CommandEnd | undefined;
    void once(child, "close").then(async ([code]) => {
      end = { code: typeof code === "number" ? code : null, stdout, stderr: await stderr };
      signal.changed();
    });
    const ended = signal.found(() => end, `the end of flotilla ${args.join(" ")}`);
    // A command that was killed after its test is nobody's error.
    ended.catch(() => undefined);
    return {
      child,
      pid,
      ended,
      printed: (part) =>
        Promise.race([
          signal.until(() => stdout.includes(part), part),
          ended.then((end) => {
            if (!stdout.includes(part))
              throw new Error(`it ended before it printed ${part}: ${JSON.stringify(end)}`);
          }),
        ]),
    };
  }

  const run = (...args: readonly string[]) => start(...args).ended;
  endFleet = () => run("down");
  return { dir, start, run };
}
