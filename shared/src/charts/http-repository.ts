/**
 * HTTP repositories: the entries of one chart from `<repository>/index.yaml`. An index is kept in memory and asked
 * for again with a conditional request; who asks at the same time shares the request, and everybody shares the parse.
 */

import { createSingleFlight } from "../concurrency/single-flight.ts";
import { AppError, messageOf } from "../errors/app-error.ts";
import type { Log } from "../log/log.ts";
import type { Clock } from "../time/clock.ts";
import { accessKey, homeAuthorization, type RepositoryAccess } from "./access.ts";
import { describeUrl, joinAddress } from "./address.ts";
import { passBody } from "./body.ts";
import { chartErrors } from "./errors.ts";
import { discard, type Exchange, type Exchanger } from "./exchange.ts";
import type { ChartEntries } from "./index-entry.ts";
import type { PackedIndex } from "./index-pack.ts";
import type { IndexReader } from "./index-reader.ts";
import { createRecent, type Recent } from "./recent.ts";
import { createRecentFailures } from "./recent-failures.ts";
import { refusal } from "./refusal.ts";

export interface IndexQuery {
  readonly repository: string;
  readonly chart: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
  /** What it was asked since then (monotonic) is good enough, failures too. Absent: it is asked, or who is asking is joined. */
  readonly since?: number | undefined;
  /** An attempt that is under way is joined by who names the same; absent: by everybody who names none. */
  readonly occasion?: string | undefined;
}

/** One chart as the repository's index has it. */
export interface IndexedChart {
  readonly indexUrl: string;
  /** Undefined when the index has no such chart; `names` then says which it has. */
  readonly chart: ChartEntries | undefined;
  readonly names: readonly string[];
}

export interface HttpRepositories {
  chart(query: IndexQuery): Promise<IndexedChart>;
}

export interface HttpRepositoriesOptions {
  readonly maxIndexBytes: number;
  readonly maxRepositories: number;
  readonly timeoutMs: number;
}

export interface HttpRepositoriesDeps {
  readonly exchange: Exchanger;
  readonly reader: IndexReader;
  readonly log: Log;
  readonly clock: Clock;
}

interface KeptIndex {
  readonly index: PackedIndex;
  readonly positions: ReadonlyMap<string, number>;
  /** Entries of charts that were asked for. */
  readonly charts: Recent<Promise<ChartEntries | undefined>>;
  readonly digest: string;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  readonly askedAt: number;
  readonly parsedAll: boolean;
}

const keptCharts = 64;
const keptFailures = 256;

export function createHttpRepositories(
  deps: HttpRepositoriesDeps,
  options: HttpRepositoriesOptions,
): HttpRepositories {
  const kept = createRecent<KeptIndex>(options.maxRepositories);
  const loads = createSingleFlight<KeptIndex>();
  const failures = createRecentFailures(deps.clock, keptFailures);

  async function load(
    url: URL,
    access: RepositoryAccess,
    known: KeptIndex | undefined,
    parseAll: boolean,
    signal: AbortSignal,
  ) {
    const askedAt = deps.clock.monotonic();
    const answer = await deps.exchange({
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
      failure: chartErrors.INDEX_FETCH,
    });
    if (answer.status === 304 && known !== undefined) {
      await discard(answer.body);
      return { ...known, askedAt };
    }
    if (answer.status !== 200) throw await refusal(answer, access, chartErrors.INDEX_FETCH);
    return parse(answer, known, parseAll, askedAt);
  }

  async function parse(
    answer: Exchange,
    known: KeptIndex | undefined,
    parseAll: boolean,
    askedAt: number,
  ): Promise<KeptIndex> {
    const unusable = (thrown: unknown) =>
      new AppError(
        chartErrors.INDEX_INVALID,
        `${answer.asked}: what came back cannot be used: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    const limit = { maxBytes: options.maxIndexBytes, tooLarge: chartErrors.INDEX_TOO_LARGE };
    deps.reader.expect(Number(answer.header("content-length") ?? 0));
    const intake = deps.reader.begin({ parseAll });
    try {
      const { digest } = await passBody(answer, limit, (chunk) =>
        intake.add(chunk).catch((thrown: unknown) => {
          throw unusable(thrown);
        }),
      );
      const validators = {
        etag: answer.header("etag"),
        lastModified: answer.header("last-modified"),
        askedAt,
      };
      if (known?.digest === digest) return { ...known, ...validators };
      const index = await intake.finish().catch((thrown: unknown) => {
        throw unusable(thrown);
      });
      return {
        index,
        positions: new Map(index.names.map((name, at) => [name, at])),
        charts: createRecent(keptCharts),
        digest,
        ...validators,
        parsedAll: parseAll,
      };
    } finally {
      intake.drop();
    }
  }

  /** The index as the repository has it now, or had it a moment ago. */
  async function current(url: URL, query: IndexQuery, parseAll: boolean): Promise<KeptIndex> {
    const key = `${accessKey(query.access)} ${url.href}`;
    const known = kept.get(key);
    const usable = known !== undefined && (known.parsedAll || !parseAll) ? known : undefined;
    if (usable !== undefined && query.since !== undefined && usable.askedAt >= query.since)
      return usable;
    failures.throwKnown(key, query.since);
    const loaded = await loads.run(
      `${parseAll} ${key} ${query.occasion ?? ""}`,
      failures.watch(key, (signal) =>
        load(url, query.access, usable, parseAll || known?.parsedAll === true, signal),
      ),
      query.signal,
    );
    // One that was begun earlier may end later.
    if ((kept.get(key)?.askedAt ?? 0) <= loaded.askedAt) kept.set(key, loaded);
    return loaded;
  }

  function entriesOf(
    index: KeptIndex,
    chart: string,
    at: number,
  ): Promise<ChartEntries | undefined> {
    const known = index.charts.get(chart);
    if (known !== undefined) return known;
    const reading = deps.reader.read(index.index, at);
    index.charts.set(chart, reading);
    // What failed is tried again by the next one who asks.
    reading.catch(() => index.charts.delete(chart));
    return reading;
  }

  return {
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
        deps.log.info({ index: found.indexUrl, chart: query.chart }, "index is parsed whole");
      }
      throw new AppError(
        chartErrors.INDEX_INVALID,
        `GET ${describeUrl(url)}: the part of ${query.chart} cannot be read`,
      );
    },
  };
}

function conditions(known: KeptIndex | undefined): Readonly<Record<string, string>> {
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
