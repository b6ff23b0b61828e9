/**
 * A cache of charts on disk, by the digest of their archive, the address that it came from and the access that it was fetched
 * with: an index of one tenant that names the digest of another tenant's private chart does not open that. Callers of one chart
 * share a download, and an archive that does not match its pin is never stored. When the cache is full the least recently used
 * charts are evicted, but none that is in use.
 */
import { createLruCache } from "../../../runtime/cache/index.ts";
import { createSingleFlight } from "../../../runtime/concurrency/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { type Log, silentLog } from "../../../runtime/log/index.ts";
import { type Clock, systemClock } from "../../../runtime/time/index.ts";
import { canonicalJson } from "../../../text/json/index.ts";
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
import { type ChartFile, diskError } from "./chart-file.ts";
import { ChartStore } from "./chart-store.ts";
import { createOriginNames, type OriginNames } from "./origin-names.ts";

/** A chart in use: its file stays until it is released. */
export interface UsedChart extends ChartFile {
  /** Must be called once the file is not opened any more. */
  readonly release: () => void;
  /** What it was made from, of a pin that does not say which bytes it means; absent for what an earlier process made. */
  readonly source?: SourceDigest;
}

export interface ChartCacheDeps<P extends Pin = Pin> {
  readonly fetch: FetchArchive<P>;
  readonly log?: Log;
  readonly clock?: Clock;
}

export interface FetchChartOptions {
  readonly signal?: AbortSignal | undefined;
  /** What others received. */
  readonly sources?: readonly SourceDigest[] | undefined;
}

export interface ChartCacheOptions {
  readonly dir: string;
  readonly maxBytes?: number;
  readonly maxChartBytes?: number;
  readonly downloadTimeoutMs?: number;
}

/** The version of the way in which charts are made: an archive of another one is not used. */
const buildVersion = 1;

const defaultCacheBytes = 1024 ** 3;
const defaultChartBytes = 256 * 1024 ** 2;
const defaultTimeoutMs = 300_000;
const maxKnown = 1_000;

/** Which file answers a fetch, if it is there. */
type Wanted =
  | { readonly kind: "digest"; readonly digest: string }
  /** A chart that an earlier process made. */
  | { readonly kind: "any" }
  | { readonly kind: "none" };

export class ChartCache<P extends Pin = Pin> {
  readonly #fetch: FetchArchive<P>;
  readonly #limits: { readonly maxBytes: number; readonly timeoutMs: number };
  readonly #origins: OriginNames;
  readonly #store: ChartStore;
  readonly #fetches = createSingleFlight<ChartFile>();
  /** The digests of archives whose pins have none, by origin. */
  readonly #digests = createLruCache<string>(maxKnown);
  /** The digests of what charts were made from, by origin. */
  readonly #sourceDigests = createLruCache<string>(maxKnown);

  constructor(deps: ChartCacheDeps<P>, options: ChartCacheOptions) {
    const { fetch, log = silentLog(), clock = systemClock } = deps;
    const { dir, maxBytes = defaultCacheBytes } = options;
    const { maxChartBytes = defaultChartBytes, downloadTimeoutMs = defaultTimeoutMs } = options;
    this.#fetch = fetch;
    this.#limits = { maxBytes: maxChartBytes, timeoutMs: downloadTimeoutMs };
    this.#origins = createOriginNames(dir);
    this.#store = new ChartStore({ dir, maxBytes, clock, log });
  }

  /**
   * The archive of a pin, from the cache or its source; its caller must release it. `sources`: what others received; with another one for
   * the same pin it rejects with CHART_DIGEST_MISMATCH, and the next call asks the source again. Rejects with CHART_CACHE
   * when the disk fails, and as the source does; then there is nothing to release.
   */
  async fetch(
    pin: P,
    access: RepositoryAccess,
    { signal, sources = [] }: FetchChartOptions = {},
  ): Promise<UsedChart> {
    const origin = await this.#originOf(pin, access);
    const expected = isUnbound(pin)
      ? sources.find((each) => each.pin === pinDigest(pin))
      : undefined;
    const wanted = this.#wanted(pin, origin, expected);
    // Before its file is looked for: otherwise another download might be about to evict it.
    const release = this.#store.use(origin);
    try {
      const file = await this.#fetches.run(
        `${wanted.kind === "digest" ? wanted.digest : ""} ${origin}`,
        async (shared) =>
          (await this.#find(wanted, origin)) ??
          (await this.#download(pin, origin, { access, signal: shared })),
        signal,
      );
      const source = this.#sourceOf(pin, origin, file);
      if (expected !== undefined && source?.digest !== expected.digest) {
        // The next attempt asks the source again.
        this.#digests.delete(origin);
        this.#sourceDigests.delete(origin);
        throw otherBytes(pin, source, expected);
      }
      if (pinnedDigest(pin) === undefined) this.#digests.set(origin, file.digest);
      return { ...file, release, ...(source !== undefined && { source }) };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  async #originOf(pin: P, access: RepositoryAccess): Promise<string> {
    // A chart that is made here has the address of its files and how it is made from them.
    const address = isBuilt(pin) ? `build ${buildVersion} ${canonicalJson(pin)}` : pinAddress(pin);
    const origin = `${accessKey(access)} ${address}`;
    return await this.#origins.nameOf(origin).catch((thrown: unknown) => {
      throw diskError(thrown, pin);
    });
  }

  #wanted(pin: P, origin: string, expected: SourceDigest | undefined): Wanted {
    const pinned = pinnedDigest(pin);
    if (pinned !== undefined) return { kind: "digest", digest: pinned };
    // Nobody knows what the archives of an earlier process were made from.
    if (expected !== undefined && this.#sourceDigests.get(origin) === undefined)
      return { kind: "none" };
    const digest = this.#digests.get(origin);
    if (digest !== undefined) return { kind: "digest", digest };
    return isBuilt(pin) ? { kind: "any" } : { kind: "none" };
  }

  async #find(wanted: Wanted, origin: string): Promise<ChartFile | undefined> {
    switch (wanted.kind) {
      case "digest":
        return await this.#store.find(wanted.digest, origin);
      case "any":
        return await this.#store.findAny(origin);
      case "none":
        return undefined;
    }
  }

  #download(
    pin: P,
    origin: string,
    request: { readonly access: RepositoryAccess; readonly signal: AbortSignal },
  ): Promise<ChartFile> {
    return this.#store.add(pin, origin, (write) =>
      this.#fetch(pin, write, { ...request, ...this.#limits }),
    );
  }

  #sourceOf(pin: P, origin: string, file: ChartFile): SourceDigest | undefined {
    if (!isUnbound(pin)) return undefined;
    if (file.sourceDigest !== undefined) this.#sourceDigests.set(origin, file.sourceDigest);
    const digest = this.#sourceDigests.get(origin);
    return digest === undefined ? undefined : { pin: pinDigest(pin), digest };
  }
}

/** The digest that the pin itself says. */
function pinnedDigest(pin: Pin): string | undefined {
  return isBuilt(pin) ? undefined : archiveDigest(pin);
}

function otherBytes(pin: Pin, source: SourceDigest | undefined, expected: SourceDigest): AppError {
  return new AppError(
    chartErrors.CHART_DIGEST_MISMATCH,
    `the source of ${describePin(pin)} sent ${source?.digest ?? "something unknown"}, and the first cluster of this Bundle got ${expected.digest} for the same revision; nothing was installed: compare what the source sends to both, or publish the chart again`,
  );
}
