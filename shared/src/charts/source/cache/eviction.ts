/** The names of cached files, and which of them are deleted. Pure. */

/** What the name of an archive says. */
export interface ArchiveName {
  readonly digest: string;
  /** The name of its origin. */
  readonly origin: string;
}

export interface CachedFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly usedMs: number;
}

const archiveName = /^sha256-([0-9a-f]{64})-([0-9a-f]{32})\.tgz$/;
/** Archives of earlier versions, which nothing opens any more. */
const earlierName = /^sha256-[0-9a-f]{64}\.tgz$/;
const partName = /^part-/;
const stalePartMs = 3_600_000;

export function formatArchiveName({ digest, origin }: ArchiveName): string {
  return `${digest.replace(":", "-")}-${origin}.tgz`;
}

/** Undefined for a file that is not an archive of this version. */
export function parseArchiveName(name: string): ArchiveName | undefined {
  const [, digest, origin] = archiveName.exec(name) ?? [];
  return digest === undefined || origin === undefined
    ? undefined
    : { digest: `sha256:${digest}`, origin };
}

/** Whether nothing opens a file any more. */
export function isObsolete(
  { name, usedMs }: Omit<CachedFile, "sizeBytes">,
  nowMs: number,
): boolean {
  return earlierName.test(name) || (partName.test(name) && nowMs - usedMs > stalePartMs);
}

/**
 * The archives to delete, one by one, until the rest fits: the least recently used first, and none that is in use.
 * `isInUse` is called when the next one is asked for, as a chart may come into use while another one is deleted.
 */
export function* evicted(
  files: readonly CachedFile[],
  maxBytes: number,
  isInUse: (origin: string) => boolean,
): Generator<CachedFile> {
  const archives = files.flatMap((file) => {
    const origin = parseArchiveName(file.name)?.origin;
    return origin === undefined ? [] : [{ file, origin }];
  });
  let total = archives.reduce((sum, { file }) => sum + file.sizeBytes, 0);
  for (const { file, origin } of archives.sort((a, b) => a.file.usedMs - b.file.usedMs)) {
    if (total <= maxBytes) return;
    if (isInUse(origin)) continue;
    yield file;
    total -= file.sizeBytes;
  }
}
