/**
 * Indexes of HTTP repositories (`<repository>/index.yaml`): fetched once for all callers, parsed once, cached, and fetched
 * again with a conditional request.
 */
import { createLruCache, type LruCache } from "../../../runtime/cache/index.ts";
import { AppError, messageOf } from "../../../runtime/errors/index.ts";
import type { Log } from "../../../runtime/log/index.ts";
import type { Clock } from "../../../runtime/time/index.ts";
import {
  accessKey,
  chartErrors,
  describeUrl,
  homeAuthorization,
  joinAddress,
  type RepositoryAccess,
  type SourceRequest,
} from "../index.ts";
import {
  createSharedRequests,
  discard,
  type Exchange,
  type Exchanger,
  passBody,
  responseError,
} from "../transport/index.ts";
import type { ChartEntries } from "./index-entry.ts";
import type { PackedIndex } from "./index-pack.ts";
import type { IndexReader } from "./index-reader.ts";

export interface IndexQuery extends SourceRequest {
  readonly repository: string;
  readonly chart: string;
}

/** One chart of an index. */
export interface IndexedChart {
  readonly indexUrl: string;
  /** Undefined: the index does not have the chart. */
  readonly chart: ChartEntries | undefined;
  /** All charts of the index. */
  readonly names: readonly string[];
}

/** An index as a whole. */
export interface IndexSummary {
  readonly indexUrl: string;
  /** The digest of its bytes, `sha256:` and hex. */
  readonly digest: string;
  readonly sizeBytes: number;
  /** All charts of the index. */
  readonly names: readonly string[];
}

export interface IndexRepository {
  /** Reads the index without the versions of any chart. */
  summary(query: Omit<IndexQuery, "chart">): Promise<IndexSummary>;
  chart(query: IndexQuery): Promise<IndexedChart>;
}

export interface IndexRepositoryOptions {
  readonly maxIndexBytes: number;
  readonly maxRepositories: number;
  /** The limit of all cached indexes, which are compressed. */
  readonly maxCachedBytes: number;
  readonly timeoutMs: number;
}

export interface IndexRepositoryDeps {
  readonly exchange: Exchanger;
  readonly reader: IndexReader;
  readonly log: Log;
  readonly clock: Clock;
}

interface CachedIndex {
  readonly index: PackedIndex;
  readonly positions: ReadonlyMap<string, number>;
  /** The entries of charts that were requested. */
  readonly charts: LruCache<Promise<ChartEntries | undefined>>;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  readonly parsedAll: boolean;
}

interface IndexLoad {
  readonly url: URL;
  readonly access: RepositoryAccess;
  readonly known: CachedIndex | undefined;
  readonly parseAll: boolean;
  readonly signal: AbortSignal;
}

const maxCachedCharts = 64;
const maxFailures = 256;
/** What a chart's name and position take in memory, roughly. */
const bytesOfName = 200;

export function createIndexRepository(
  deps: IndexRepositoryDeps,
  options: IndexRepositoryOptions,
): IndexRepository {
  const requests = createSharedRequests<CachedIndex>({
    clock: deps.clock,
    maxResults: options.maxRepositories,
    maxFailures,
    limit: {
      maxWeight: options.maxCachedBytes,
      weightOf: ({ index }) => index.bytes.length + index.names.length * bytesOfName,
    },
  });

  /** The index in a state that is fresh enough for the query. */
  function current(url: URL, query: SourceRequest, parseAll: boolean): Promise<CachedIndex> {
    const { access, since, trigger, signal } = query;
    const key = `${accessKey(access)} ${url.href}`;
    const accepts = (index: CachedIndex): boolean => index.parsedAll || !parseAll;
    const latest = requests.latest(key);
    const known = latest !== undefined && accepts(latest) ? latest : undefined;
    const variant = String(parseAll);
    return requests.get(key, { since, trigger, signal, variant, accepts }, (shared) =>
      load(deps, options, {
        url,
        access,
        known,
        parseAll: parseAll || latest?.parsedAll === true,
        signal: shared,
      }),
    );
  }

  function entriesOf(
    index: CachedIndex,
    chart: string,
    at: number,
  ): Promise<ChartEntries | undefined> {
    const known = index.charts.get(chart);
    if (known !== undefined) return known;
    const reading = deps.reader.read(index.index, at);
    index.charts.set(chart, reading);
    // A failure is not cached.
    reading.catch(() => index.charts.delete(chart));
    return reading;
  }

  return {
    async summary({ repository, ...query }) {
      const url = indexUrl(repository);
      const { digest, sizeBytes, index } = await current(url, query, false);
      return { indexUrl: describeUrl(url), digest, sizeBytes, names: index.names };
    },
    async chart(query) {
      const url = indexUrl(query.repository);
      for (const parseAll of [false, true]) {
        const index = await current(url, query, parseAll);
        const found = {
          indexUrl: describeUrl(url),
          names: index.index.names,
        };
        const at = index.positions.get(query.chart);
        if (at === undefined) return { ...found, chart: undefined };
        const chart = await entriesOf(index, query.chart, at);
        if (chart !== undefined) return { ...found, chart };
        deps.log.info({ index: found.indexUrl, chart: query.chart }, "index is parsed as a whole");
      }
      throw new AppError(
        chartErrors.INDEX_INVALID,
        `GET ${describeUrl(url)}: invalid index: the entries of ${query.chart} cannot be parsed`,
      );
    },
  };
}

/** Fetches an index, conditionally when a version of it is cached, and parses it when it has changed. */
async function load(
  deps: IndexRepositoryDeps,
  options: IndexRepositoryOptions,
  { url, access, known, parseAll, signal }: IndexLoad,
): Promise<CachedIndex> {
  const response = await deps.exchange({
    method: "GET",
    url,
    access,
    authorization: homeAuthorization(access, url),
    headers: {
      accept: "application/yaml, text/yaml, application/json, */*;q=0.5",
      "accept-encoding": "gzip",
      ...conditions(known),
    },
    timeoutMs: options.timeoutMs,
    signal,
    errorKind: chartErrors.INDEX_FETCH,
  });
  if (response.status === 304 && known !== undefined) {
    await discard(response.body);
    return known;
  }
  if (response.status !== 200) throw await responseError(response, access, chartErrors.INDEX_FETCH);
  return parse(deps.reader, response, { known, parseAll, maxBytes: options.maxIndexBytes });
}

interface ParseOptions {
  readonly known: CachedIndex | undefined;
  readonly parseAll: boolean;
  readonly maxBytes: number;
}

/** Parses an index while it arrives; one with the digest of the cached one is not parsed again. */
async function parse(
  reader: IndexReader,
  response: Exchange,
  { known, parseAll, maxBytes }: ParseOptions,
): Promise<CachedIndex> {
  const invalid = (thrown: unknown) =>
    new AppError(
      chartErrors.INDEX_INVALID,
      `${response.request}: invalid index: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  const limit = { maxBytes, tooLarge: chartErrors.INDEX_TOO_LARGE };
  reader.expect(Number(response.header("content-length") ?? 0));
  const intake = reader.begin({ parseAll });
  try {
    const { digest, sizeBytes } = await passBody(response, limit, (chunk) =>
      intake.add(chunk).catch((thrown: unknown) => {
        throw invalid(thrown);
      }),
    );
    const validators = {
      etag: response.header("etag"),
      lastModified: response.header("last-modified"),
    };
    if (known?.digest === digest) return { ...known, ...validators };
    const index = await intake.finish().catch((thrown: unknown) => {
      throw invalid(thrown);
    });
    return {
      index,
      positions: new Map(index.names.map((name, at) => [name, at])),
      charts: createLruCache(maxCachedCharts),
      digest,
      sizeBytes,
      ...validators,
      parsedAll: parseAll,
    };
  } finally {
    intake.drop();
  }
}

function conditions(known: CachedIndex | undefined): Readonly<Record<string, string>> {
  return {
    ...(known?.etag === undefined ? {} : { "if-none-match": known.etag }),
    ...(known?.lastModified === undefined ? {} : { "if-modified-since": known.lastModified }),
  };
}

function indexUrl(repository: string): URL {
  const url = URL.parse(joinAddress(repository, "index.yaml") ?? "");
  if (url === null)
    throw new AppError(chartErrors.CHART_SOURCE_INVALID, "helm.repo is not an address");
  return url;
}
