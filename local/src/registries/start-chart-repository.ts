/** Starts an HTTP chart repository: a process that serves a folder with charts and an index.yaml. */
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { replaceFile } from "../files/index.ts";
import { type RunningProcess, startServer, type Watchers, watchersOf } from "../process/index.ts";

export interface ChartRepositorySpec extends Watchers {
  readonly name?: string;
  /** Folder of this repository only; the charts are in its subfolder `charts`. */
  readonly dir: string;
  readonly logDir?: string;
}

export interface ChartRepository {
  /** URL for `repo` of a HelmOp: `http://127.0.0.1:PORT`, the same after a restart. */
  readonly url: string;
  /** The served folder; `publishChart` writes to it. */
  readonly chartsDir: string;
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

/** Resolves once the repository serves its index. Throws PROCESS_FAILED. */
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

/** Path of the index.yaml of a served folder. */
export function indexFileOf(chartsDir: string): string {
  return join(chartsDir, "index.yaml");
}

/** Writes an empty index when there is none. */
export async function ensureIndex(chartsDir: string): Promise<void> {
  const exists = await access(indexFileOf(chartsDir)).then(
    () => true,
    () => false,
  );
  if (exists) return;
  const generated = new Date().toISOString();
  await replaceFile(
    indexFileOf(chartsDir),
    `apiVersion: v1\nentries: {}\ngenerated: "${generated}"\n`,
  );
}
