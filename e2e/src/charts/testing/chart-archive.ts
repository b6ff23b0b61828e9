/** The smallest archive that Helm takes for a chart. */
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

export async function chartArchive(name: string, version: string): Promise<Buffer> {
  const archive = pack();
  archive.entry(
    { name: `${name}/Chart.yaml` },
    `apiVersion: v2\nname: ${name}\nversion: ${version}\n`,
  );
  archive.finalize();
  return gzipSync(await buffer(archive));
}
