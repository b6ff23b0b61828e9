/** Starts an HTTP chart repository: a process of its own that serves a folder with charts and their index.yaml. */
import { access, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { type Watchers, watchersOf } from "../process/process-record.ts";
import type { RunningProcess } from "../process/start-process.ts";
import { startServer } from "../process/start-server.ts";

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
  const program = fileURLToPath(new URL("./chart-server-main.ts", import.meta.url));
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

/** The index.yaml of a chart repository's folder. Readers see the old one or the new one, never a part. */

/** Where the index of a folder is. */
export function indexFileOf(chartsDir: string): string {
  return join(chartsDir, "index.yaml");
}

/** Makes an index without charts when there is none. */
export async function ensureIndex(chartsDir: string): Promise<void> {
  const there = await access(indexFileOf(chartsDir)).then(
    () => true,
    () => false,
  );
  if (there) return;
  const half = join(chartsDir, ".index.yaml.new");
  await writeFile(half, `apiVersion: v1\nentries: {}\ngenerated: "${new Date().toISOString()}"\n`);
  await rename(half, indexFileOf(chartsDir));
}
