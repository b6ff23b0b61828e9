/** Pushes a chart's archive to a registry with Helm. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHelm } from "@flotilla/local/registries";
import type { ChartArchive } from "./chart-archive.ts";

export interface PushOptions {
  /** The file with the registry's authority; default: plain HTTP. */
  readonly caFile?: string;
  readonly credentials?: {
    readonly host: string;
    readonly username: string;
    readonly password: string;
  };
}

/** `repository`: `oci://host/path`, to which the chart's name is added. */
export async function pushChart(
  helm: string,
  archive: ChartArchive,
  repository: string,
  { caFile, credentials }: PushOptions = {},
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "flotilla-push-"));
  try {
    const file = join(home, `${archive.name}-${archive.version}.tgz`);
    await writeFile(file, archive.bytes);
    const transport = caFile === undefined ? ["--plain-http"] : ["--ca-file", caFile];
    await runHelm(["push", file, repository, ...transport], {
      ...{ helm, home },
      ...(credentials !== undefined && { credentials }),
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
