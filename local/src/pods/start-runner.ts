/** Starts the pod runner of a local fleet as a process of its own. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import {
  layers,
  type RunningProcess,
  startProcess,
  type Watchers,
  watchersOf,
} from "../process/index.ts";

const isolation = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("mount namespace") }),
  z.strictObject({ kind: z.literal("plain process"), reason: z.string() }),
]);

/** Paths are absolute. */
export const runnerConfig = z.strictObject({
  clusters: z.array(z.strictObject({ name: z.string(), kubeconfig: z.string() })),
  /** File trees by program. */
  images: z.record(z.string(), z.string()),
  isolation,
  /** For volumes. */
  dir: z.string(),
  /** For logs; each cluster has a folder. */
  logDir: z.string(),
  /** The file that records processes for `flotilla down`. */
  journal: z.string(),
});

export type RunnerConfig = Readonly<z.infer<typeof runnerConfig>>;

/** Resolves once the process exists; its nodes are registered soon after. */
export async function startRunner(
  config: RunnerConfig,
  environment: Readonly<Record<string, string>>,
  watchers: Watchers,
): Promise<RunningProcess> {
  const file = join(config.dir, "pods.json");
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return startProcess({
    name: "pod runner",
    command: process.execPath,
    args: [
      "--max-semi-space-size=8",
      fileURLToPath(new URL("./runner-main.ts", import.meta.url)),
      file,
    ],
    env: environment,
    logFile: join(config.logDir, "pods.log"),
    // After the pods, which it ends, and before the API servers.
    layer: layers.client,
    ...watchersOf(watchers),
  });
}
