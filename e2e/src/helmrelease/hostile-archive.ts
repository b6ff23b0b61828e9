/** A packaged chart with an entry that no packaging program writes. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import type { ChartArchive } from "../harness/chart-archive.ts";

export interface HostileEntry {
  readonly name: string;
  readonly type?: "symlink";
  readonly linkname?: string;
}

/** `name` 1.0.0, with this entry after Chart.yaml. */
export async function archiveWithEntry(name: string, entry: HostileEntry): Promise<ChartArchive> {
  const tar = pack();
  const version = "1.0.0";
  tar.entry({ name: `${name}/Chart.yaml` }, `apiVersion: v2\nname: ${name}\nversion: ${version}\n`);
  if (entry.type === "symlink") tar.entry(entry);
  else tar.entry(entry, "apiVersion: v1\n");
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(Buffer.from(chunk as Uint8Array));
  const bytes = gzipSync(Buffer.concat(chunks));
  return { name, version, bytes, digest: createHash("sha256").update(bytes).digest("hex") };
}
