/** Starts an HTTP chart repository: a process of its own that serves a folder with charts and their index.yaml. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { type Watchers, watchersOf } from "../process/process-record.ts";
import type { RunningProcess } from "../process/start-process.ts";
import { startServer } from "../process/start-server.ts";
import { ensureIndex } from "./chart-index.ts";

export interface ChartRepositorySpec extends Watchers {
  readonly name?: string;
  /** The folder of this repository alone; the charts are in `charts` below. */
  readonly dir: string;
  readonly logDir?: string;
}

export interface ChartRepository {
  /** What a HelmOp's `repo` is: `http://127.0.0.1:PORT`, the same after a restart. */
  readonly url: string;
  /** The folder that is served; `publishChart` puts charts there. */
  readonly chartsDir: string;
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

export async function startChartRepository(spec: ChartRepositorySpec): Promise<ChartRepository> {
  const name = spec.name ?? "chart-repository";
  const chartsDir = join(spec.dir, "charts");
  await mkdir(chartsDir, { recursive: true });
  await ensureIndex(chartsDir);
  const program = fileURLToPath(new URL("../chart-repository/main.ts", import.meta.url));
  const { port, process: running } = await startServer({
    name,
    dir: spec.dir,
    logFile: join(spec.logDir ?? join(spec.dir, "logs"), `${name}.log`),
    ...watchersOf(spec),
    command: (port) =>
      Promise.resolve({
        command: process.execPath,
        args: [program, chartsDir, String(port)],
        env: {},
      }),
    async ready(port) {
      const answer = await request(`http://127.0.0.1:${port}/index.yaml`, { method: "HEAD" });
      await answer.body.dump();
      return answer.statusCode === 200;
    },
  });
  return {
    url: `http://127.0.0.1:${port}`,
    chartsDir,
    process: running,
    stop: () => running.stop(),
  };
}
