/** Pushes a chart's archive to a registry with Helm. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHelm } from "@flotilla/local/registries";
import type { ChartArchive } from "./chart-archive.ts";

/** `repository`: `oci://host/path`, to which the chart's name is added. */
export async function pushChart(
  helm: string,
  archive: ChartArchive,
  repository: string,
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "flotilla-push-"));
  try {
    const file = join(home, `${archive.name}-${archive.version}.tgz`);
    await writeFile(file, archive.bytes);
    await runHelm(["push", file, repository, "--plain-http"], { helm, home });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
