/** Reads the files in which publishers state checksums. */

/**
 * The sha256 of `fileName` in a checksum file: either the digest alone (dl.k8s.io, distribution) or lines of
 * `digest  name` (Helm, etcd). `undefined` when the file says nothing about it.
 */
export function parseChecksum(text: string, fileName: string): string | undefined {
  const lines = text
    .replaceAll("\0", "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  for (const line of lines) {
    const [digest, name] = line.split(/\s+\*?/, 2);
    if (digest === undefined || !/^[0-9a-f]{64}$/i.test(digest)) continue;
    const named = name !== undefined && name !== "" && name !== "-";
    if (named ? name.split("/").at(-1) === fileName : lines.length === 1)
      return digest.toLowerCase();
  }
  return undefined;
}
