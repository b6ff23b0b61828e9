/** Starts a server that keeps its port in its folder, so that its address stays the same over restarts. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import { z } from "zod";
import { readJson, writeJson } from "../files/atomic-file.ts";
import { freePort } from "./free-port.ts";
import { layers, type Watchers, watchersOf } from "./process-record.ts";
import { exitError, type RunningProcess, startProcess } from "./start-process.ts";
import { waitUntil } from "./wait-until.ts";

const portAttempts = 5;
const startTimeoutMs = 20_000;

export interface ServerSpec extends Watchers {
  readonly name: string;
  /** The folder with the port. */
  readonly dir: string;
  readonly logFile: string;
  /** The command for a port. */
  command(port: number): Promise<{
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }>;
  /** Whether the server on this port is up; throwing means "not yet". */
  ready(port: number): Promise<boolean>;
}

export interface RunningServer {
  readonly port: number;
  readonly process: RunningProcess;
}

export async function startServer(spec: ServerSpec): Promise<RunningServer> {
  await mkdir(spec.dir, { recursive: true, mode: 0o700 });
  const file = join(spec.dir, "port.json");
  const kept = await readJson(file, z.int());
  for (let attempt = 1; ; attempt++) {
    const port = kept ?? (await freePort());
    try {
      const process = await startOn(spec, port);
      await writeJson(file, port);
      return { port, process };
    } catch (thrown) {
      // A port that others know already is not given up; a new one may have been taken between our look and the bind.
      const taken = /address already in use|EADDRINUSE/.test(messageOf(thrown));
      if (kept !== undefined || attempt === portAttempts || !taken) throw thrown;
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
        // Looked at first: the answer could come from somebody else who has the port.
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
