/** Charts of HTTP repositories: versions from `index.yaml`, pins from its entries. */
import { AppError } from "../../../runtime/errors/index.ts";
import { nearest } from "../../../text/text/index.ts";
import {
  chartErrors,
  describeUrl,
  type HttpLocation,
  type HttpPin,
  joinAddress,
  type Listing,
  type OciPin,
  parseOciName,
  type Source,
  type SourceRequest,
} from "../index.ts";
import { type Exchanger, fetchByUrl } from "../transport/index.ts";
import type { ChartEntry } from "./index-entry.ts";
import type { IndexedChart, IndexRepository } from "./index-repository.ts";

export interface HttpSourceDeps {
  readonly indexes: IndexRepository;
  readonly exchange: Exchanger;
  /** For charts of an index that are in a registry; undefined: the registry has no such tag. */
  readonly pinTag: (
    repository: string,
    tag: string,
    request: SourceRequest,
  ) => Promise<OciPin | undefined>;
}

const namesShown = 5;

export function createHttpSource(deps: HttpSourceDeps): Source<HttpLocation, HttpPin, ChartEntry> {
  async function list(
    location: HttpLocation,
    request: SourceRequest,
  ): Promise<Listing<ChartEntry>> {
    const index = await deps.indexes.chart({ ...location, ...request });
    return {
      rules: "index",
      versions: index.chart?.entries ?? [],
      problems: index.chart?.problems ?? [],
      listedBy: `GET ${index.indexUrl}`,
      ...(index.chart === undefined && { notFound: noSuchChart(location.chart, index) }),
    };
  }

  async function pinEntry(
    location: HttpLocation,
    entry: ChartEntry,
    listing: Listing,
    request: SourceRequest,
  ): Promise<HttpPin | OciPin> {
    const { version, digest } = entry;
    const address = entry.urls[0];
    const what = `${listing.listedBy}: chart ${location.chart} ${version}`;
    if (address === undefined)
      throw new AppError(chartErrors.INDEX_INVALID, `${what} has no address (urls is empty)`);
    const url = joinAddress(location.repository, address);
    if (url !== undefined && /^https?:/i.test(url))
      return { kind: "http", version, url, ...(digest !== undefined && { digest }) };
    // Some repositories list charts that are in a registry.
    const [, repository, tag] = /^(oci:\/\/[^/]+\/[^:@]+):([^:@/]+)$/i.exec(url ?? "") ?? [];
    if (repository === undefined || tag === undefined || parseOciName(repository) === undefined) {
      throw new AppError(
        chartErrors.INDEX_INVALID,
        `${what} is at ${describeUrl(url ?? "")}, must be at https://, http:// or oci://HOST/PATH:TAG`,
      );
    }
    const pinned = await deps.pinTag(repository, tag.replaceAll("+", "_"), request);
    if (pinned === undefined) {
      throw new AppError(
        chartErrors.CHART_VERSION_NOT_FOUND,
        `${what} is at ${repository}:${tag}, which the registry does not have`,
      );
    }
    return { ...pinned, version };
  }

  return {
    pinsUnlisted: false,
    list,
    async pin(location, version, { listing: given, ...request }) {
      const listing = given ?? (await list(location, request));
      const entry = listing.versions.find((one) => one.version === version);
      if (entry === undefined) return undefined;
      const { problem } = entry;
      return {
        pin: await pinEntry(location, entry, listing, request),
        problems: problem === undefined ? [] : [`${version} of ${location.chart} ${problem}`],
      };
    },
    fetch: (pin, write, request) => fetchByUrl(deps.exchange, pin, write, request),
  };
}

/** For a chart that the index does not have: names what it has. */
export function noSuchChart(
  chart: string,
  { indexUrl, names }: Pick<IndexedChart, "indexUrl" | "names">,
): AppError {
  const count = names.length === 1 ? "1 chart" : `${names.length} charts`;
  return new AppError(
    chartErrors.CHART_NOT_FOUND,
    `no chart named ${chart} found: GET ${indexUrl} lists ${count}${similarNames(chart, names)}`,
  );
}

/** All names when there are few, else the similar ones. */
function similarNames(chart: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  if (names.length <= namesShown) return `: ${names.join(", ")}`;
  const stem = chart.toLowerCase().slice(0, 3);
  const related = names.filter((name) => name.toLowerCase().startsWith(stem));
  const similar = [...new Set([...nearest(chart, names, namesShown), ...related])];
  return similar.length === 0
    ? ""
    : `, those with a similar name are ${similar.slice(0, namesShown).join(", ")}`;
}
