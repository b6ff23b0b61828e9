/** Starts a server whose port is stored in its folder, so that its address stays the same over restarts. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { readJson, writeJson } from "../files/index.ts";
import { freePort } from "./free-port.ts";
import { exitError, isPortInUse } from "./process-errors.ts";
import { layers, type Watchers, watchersOf } from "./process-record.ts";
import { type RunningProcess, startProcess } from "./start-process.ts";
import { waitUntil } from "./wait-until.ts";

const portAttempts = 5;
const startTimeoutMs = 60_000;

export interface ServerSpec extends Watchers {
  readonly name: string;
  /** Folder of the server; stores the port. */
  readonly dir: string;
  readonly logFile: string;
  /** The command that starts the server on a port. */
  command(port: number): Promise<{
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }>;
  /** Whether the server on this port is ready. An error counts as not ready. */
  ready(port: number): Promise<boolean>;
}

export interface RunningServer {
  readonly port: number;
  readonly process: RunningProcess;
}

/** Resolves once the server is ready. Throws what `exitError` returns, and PROCESS_FAILED. */
export async function startServer(spec: ServerSpec): Promise<RunningServer> {
  await mkdir(spec.dir, { recursive: true, mode: 0o700 });
  const file = join(spec.dir, "port.json");
  const stored = await readJson(file, z.int());
  for (let attempt = 1; ; attempt++) {
    const port = stored ?? (await freePort());
    try {
      const process = await startOn(spec, port);
      await writeJson(file, port);
      return { port, process };
    } catch (thrown) {
      // Clients may know a stored port, so keep it. Another process may have bound a new one since it was chosen.
      if (stored !== undefined || attempt === portAttempts || !isPortInUse(thrown)) throw thrown;
    }
  }
}

async function startOn(spec: ServerSpec, port: number): Promise<RunningProcess> {
  const process = await startProcess({
    name: spec.name,
    ...(await spec.command(port)),
    logFile: spec.logFile,
    layer: layers.server,
    ...watchersOf(spec),
  });
  try {
    await waitUntil(
      async () => {
        // Check this first: another process on the port could answer.
        if (process.exit() !== undefined) return true;
        return spec.ready(port);
      },
      { what: spec.name, timeoutMs: startTimeoutMs },
    );
    if (process.exit() !== undefined) throw await exitError(process);
    return process;
  } catch (thrown) {
    await process.stop();
    throw thrown;
  }
}
