/** The index.yaml of a chart repository's folder. Readers see the old one or the new one, never a part. */
import { access, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

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
