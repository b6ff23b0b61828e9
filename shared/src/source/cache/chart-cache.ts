/**
 * A cache of charts on disk, by the digest of their archive, the address that it came from and the access that it was fetched
 * with: an index of one tenant that names the digest of another tenant's private chart does not open that. Callers of one chart
 * share a download, and an archive that does not match its pin is never stored. When the cache is full the least recently used
 * charts are evicted, but none that is in use.
 */
import { randomUUID } from "node:crypto";
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { createLruCache } from "../../cache/index.ts";
import { createSingleFlight } from "../../concurrency/index.ts";
import { AppError, messageOf } from "../../errors/index.ts";
import { canonicalJson } from "../../json/index.ts";
import { type Log, silentLog } from "../../log/index.ts";
import { type Clock, systemClock } from "../../time/index.ts";
import {
  accessKey,
  archiveDigest,
  chartErrors,
  describePin,
  type FetchArchive,
  isBuilt,
  isUnbound,
  type Pin,
  pinAddress,
  pinDigest,
  type RepositoryAccess,
  type SourceDigest,
} from "../index.ts";
import { type ChartFile, digestOfFile, diskError, writeChartFile } from "./chart-file.ts";
import { createOriginNames } from "./origin-names.ts";

export interface ChartCache<P extends Pin = Pin> {
  /** The archive of a pin. */
  fetch(
    pin: P,
    access: RepositoryAccess,
    options?: {
      readonly signal?: AbortSignal | undefined;
      /** What others received; another one for the same pin is CHART_DIGEST_MISMATCH. */
      readonly sources?: readonly SourceDigest[] | undefined;
    },
  ): Promise<UsedChart>;
}

/** A chart in use: its file stays until it is released. */
export interface UsedChart extends ChartFile {
  /** Must be called once the file is not opened any more. */
  readonly release: () => void;
  /** Of a pin that does not say which bytes it means, as far as it is known: not of what an earlier process made. */
  readonly source?: SourceDigest;
}

export interface ChartCacheDeps<P extends Pin = Pin> {
  readonly fetch: FetchArchive<P>;
  readonly log?: Log;
  readonly clock?: Clock;
}

export interface ChartCacheOptions {
  readonly dir: string;
  readonly maxBytes?: number;
  readonly maxChartBytes?: number;
  readonly downloadTimeoutMs?: number;
}

/** Of the way in which charts are made: an archive of another one is not used. */
const buildVersion = 1;

const defaultCacheBytes = 1024 ** 3;

const archiveName = /^sha256-([0-9a-f]{64})-([0-9a-f]{32})\.tgz$/;
/** Archives of earlier versions, which nothing opens any more. */
const earlierName = /^sha256-[0-9a-f]{64}\.tgz$/;
const partName = /^part-/;
const stalePartMs = 3_600_000;

export function createChartCache<P extends Pin>(
  deps: ChartCacheDeps<P>,
  options: ChartCacheOptions,
): ChartCache<P> {
  const {
    dir,
    maxBytes = defaultCacheBytes,
    maxChartBytes = 256 * 1024 ** 2,
    downloadTimeoutMs = 300_000,
  } = options;
  const { now } = deps.clock ?? systemClock;
  const log = deps.log ?? silentLog();
  const fetches = createSingleFlight<ChartFile>();
  const origins = createOriginNames(dir);
  /** The size of files whose digest this process has verified, by path. */
  const verified = new Map<string, number>();
  /** The digests that were downloaded from addresses without a digest. */
  const digests = createLruCache<string>(1000);
  /** The digests of what charts were made from, by origin. */
  const sourceDigests = createLruCache<string>(1000);
  /** How many use a chart, or are fetching it, by its origin. */
  const users = new Map<string, number>();

  const pathOf = (digest: string, origin: string): string =>
    join(dir, `${digest.replace(":", "-")}-${origin}.tgz`);

  /** The file of a digest from an origin, unless it is missing or damaged. */
  async function find(digest: string, origin: string): Promise<ChartFile | undefined> {
    const path = pathOf(digest, origin);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) return undefined;
    if (verified.get(path) !== found.size) {
      if ((await digestOfFile(path)) !== digest) {
        verified.delete(path);
        log.warn({ digest }, "cached chart is damaged; downloading it again");
        await rm(path, { force: true });
        return undefined;
      }
      verified.set(path, found.size);
    }
    await touch(path);
    return { path, digest, sizeBytes: found.size };
  }

  /** A chart that an earlier process made: nothing but its name has its digest. */
  async function findBuilt(origin: string): Promise<ChartFile | undefined> {
    for (const name of await readdir(dir)) {
      const [, digest, itsOrigin] = archiveName.exec(name) ?? [];
      if (digest === undefined || itsOrigin !== origin) continue;
      const found = await find(`sha256:${digest}`, origin);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function touch(path: string): Promise<void> {
    const used = new Date(now());
    // Only the order of eviction depends on this time.
    await utimes(path, used, used).catch((thrown: unknown) =>
      log.debug({ err: messageOf(thrown) }, "access time of the cached chart not updated"),
    );
  }

  async function download(
    pin: P,
    access: RepositoryAccess,
    origin: string,
    signal: AbortSignal,
  ): Promise<ChartFile> {
    const partPath = join(dir, `part-${randomUUID()}`);
    const target = { partPath, pathOf: (digest: string) => pathOf(digest, origin) };
    const file = await writeChartFile(pin, target, (write) =>
      deps.fetch(pin, write, {
        access,
        signal,
        timeoutMs: downloadTimeoutMs,
        maxBytes: maxChartBytes,
      }),
    );
    verified.set(file.path, file.sizeBytes);
    await touch(file.path);
    await evict().catch((thrown: unknown) =>
      log.warn({ err: messageOf(thrown) }, "chart cache could not evict"),
    );
    return file;
  }

  function sourceOf(pin: P, origin: string, file: ChartFile): SourceDigest | undefined {
    if (!isUnbound(pin)) return undefined;
    if (file.sourceDigest !== undefined) sourceDigests.set(origin, file.sourceDigest);
    const digest = sourceDigests.get(origin);
    return digest === undefined ? undefined : { pin: pinDigest(pin), digest };
  }

  function use(origin: string): () => void {
    users.set(origin, (users.get(origin) ?? 0) + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const left = (users.get(origin) ?? 1) - 1;
      if (left === 0) users.delete(origin);
      else users.set(origin, left);
    };
  }

  async function evict(): Promise<void> {
    const files: {
      readonly name: string;
      readonly origin: string;
      readonly size: number;
      readonly usedMs: number;
    }[] = [];
    for (const name of await readdir(dir)) {
      const found = await stat(join(dir, name)).catch(() => undefined);
      if (found === undefined) continue;
      const idleMs = now() - found.mtimeMs;
      if (earlierName.test(name) || (partName.test(name) && idleMs > stalePartMs))
        await rm(join(dir, name), { force: true });
      const origin = archiveName.exec(name)?.[2];
      if (origin !== undefined)
        files.push({ name, origin, size: found.size, usedMs: found.mtimeMs });
    }
    let total = files.reduce((sum, file) => sum + file.size, 0);
    for (const file of files.sort((a, b) => a.usedMs - b.usedMs)) {
      if (total <= maxBytes) return;
      if (users.has(file.origin)) continue;
      await rm(join(dir, file.name), { force: true });
      verified.delete(join(dir, file.name));
      total -= file.size;
    }
  }

  return {
    async fetch(pin, access, { signal, sources = [] } = {}) {
      // A chart that is made here has the address of its files and how it is made from them.
      const address = isBuilt(pin)
        ? `build ${buildVersion} ${canonicalJson(pin)}`
        : pinAddress(pin);
      const origin = await origins.nameOf(`${accessKey(access)} ${address}`).catch((thrown) => {
        throw diskError(thrown, pin);
      });
      const pinned = isBuilt(pin) ? undefined : archiveDigest(pin);
      const expected = isUnbound(pin)
        ? sources.find((each) => each.pin === pinDigest(pin))
        : undefined;
      // Of what an earlier process made nobody knows what it was made from.
      const mayUseBuilt = expected === undefined || sourceDigests.get(origin) !== undefined;
      const digest = mayUseBuilt ? (pinned ?? digests.get(origin)) : pinned;
      // Before its file is looked for: otherwise another download might be about to evict it.
      const release = use(origin);
      try {
        const file = await fetches.run(
          `${digest ?? ""} ${origin}`,
          async (shared) =>
            (digest === undefined
              ? isBuilt(pin) && mayUseBuilt
                ? await findBuilt(origin)
                : undefined
              : await find(digest, origin)) ?? (await download(pin, access, origin, shared)),
          signal,
        );
        const source = sourceOf(pin, origin, file);
        if (expected !== undefined && source?.digest !== expected.digest) {
          // The next attempt asks the source again.
          digests.delete(origin);
          sourceDigests.delete(origin);
          throw otherBytes(pin, source, expected);
        }
        if (pinned === undefined) digests.set(origin, file.digest);
        return { ...file, release, ...(source !== undefined && { source }) };
      } catch (thrown) {
        release();
        throw thrown;
      }
    },
  };
}

function otherBytes(pin: Pin, source: SourceDigest | undefined, expected: SourceDigest): AppError {
  return new AppError(
    chartErrors.CHART_DIGEST_MISMATCH,
    `the source of ${describePin(pin)} sent ${source?.digest ?? "something unknown"}, and the first cluster of this Bundle got ${expected.digest} for the same revision; nothing was installed: compare what the source sends to both, or publish the chart again`,
  );
}
