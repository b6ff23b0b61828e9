/** From a source and what was asked for to a pin: the version is chosen here, once, and nowhere else. */
import { AppError, unreachable } from "../../errors/app-error.ts";
import { isStaticVersion, selectVersion } from "../../version/select.ts";
import type { RepositoryAccess } from "../access.ts";
import { describeUrl, joinAddress } from "../address.ts";
import { chartErrors } from "../errors.ts";
import type { HttpRepositories, IndexedChart } from "../http/index-repository.ts";
import type { ChartEntry } from "../http/index-entry.ts";
import { noSuchChart, noSuchTag, noSuchVersion } from "./not-found.ts";
import type { OciRepositories } from "../oci/oci-source.ts";
import type { Pin } from "../pin.ts";
import { type SourceLocation, type HttpLocation, type OciLocation, parseOciName } from "../location.ts";

export interface ResolveOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * What the repository was asked since then is good enough, also if it had nothing or failed; by default nothing is. On
   * the monotonic clock that the client has.
   */
  readonly since?: number | undefined;
  /**
   * Why it is asked just now. Who asks on the same occasion shares what is under way; what others began earlier is not
   * good enough, since what this is about may have happened in between.
   */
  readonly trigger?: string | undefined;
}

export interface Resolution {
  readonly pin: Pin;
  /** What is wrong with what was chosen, as sentences. None of it keeps it from being used. */
  readonly problems: readonly string[];
}

/** A version as a repository offers it. */
export interface ListedVersion {
  /** As the repository has it: for an OCI registry, the tag. */
  readonly version: string;
  readonly created?: string;
  readonly deprecated?: boolean;
  readonly appVersion?: string;
}

export interface ChartVersions {
  /** In the repository's order. */
  readonly versions: readonly ListedVersion[];
  readonly problems: readonly string[];
}

export interface Resolver {
  /** All versions that a source offers; an archive at an address has none to choose from. */
  listChartVersions(
    source: SourceLocation,
    access: RepositoryAccess,
    options?: ResolveOptions,
  ): Promise<ChartVersions>;
  /** The pin for a version or constraint; empty means the newest release. Throws an AppError that says why there is none. */
  resolve(
    source: SourceLocation,
    wanted: string,
    access: RepositoryAccess,
    options?: ResolveOptions,
  ): Promise<Resolution>;
}

export interface ResolverDeps {
  readonly http: HttpRepositories;
  readonly oci: OciRepositories;
}

export function createResolver(deps: ResolverDeps): Resolver {
  function indexed(
    source: HttpLocation,
    access: RepositoryAccess,
    options: ResolveOptions,
  ): Promise<IndexedChart> {
    return deps.http.chart({
      ...source,
      access,
      signal: options.signal,
      ...sharingOf(options),
    });
  }

  async function fromIndex(
    source: HttpLocation,
    wanted: string,
    access: RepositoryAccess,
    options: ResolveOptions,
  ): Promise<Resolution> {
    const index = await indexed(source, access, options);
    const selection = selectVersion(
      index.chart?.entries.map(({ version }) => version) ?? [],
      wanted,
      { kind: "index" },
    );
    switch (selection.kind) {
      case "invalid":
        throw selection.error;
      case "none":
        throw index.chart === undefined
          ? noSuchChart(source, index)
          : noSuchVersion(source, wanted, index, selection.highest);
      case "found": {
        const entry = index.chart?.entries.find(({ version }) => version === selection.text);
        if (entry === undefined) throw noSuchChart(source, index);
        return {
          pin: await pinEntry(source, entry, index, access, options),
          problems:
            entry.problem === undefined
              ? []
              : [`${entry.version} of ${source.chart} ${entry.problem}`],
        };
      }
      default:
        return unreachable(selection);
    }
  }

  async function pinEntry(
    source: HttpLocation,
    entry: ChartEntry,
    index: IndexedChart,
    access: RepositoryAccess,
    options: ResolveOptions,
  ): Promise<Pin> {
    const address = entry.urls[0];
    const what = `GET ${index.indexUrl}: chart ${source.chart} ${entry.version}`;
    if (address === undefined)
      throw new AppError(chartErrors.INDEX_INVALID, `${what} has no address (urls is empty)`);
    const url = joinAddress(source.repository, address);
    if (url !== undefined && /^https?:/i.test(url)) {
      return {
        kind: "http",
        version: entry.version,
        url,
        ...(entry.digest === undefined ? {} : { digest: entry.digest }),
      };
    }
    // Some repositories list charts that are in a registry.
    const [, repository, tag] = /^(oci:\/\/[^/]+\/[^:@]+):([^:@/]+)$/i.exec(url ?? "") ?? [];
    if (repository === undefined || tag === undefined || parseOciName(repository) === undefined) {
      throw new AppError(
        chartErrors.INDEX_INVALID,
        `${what} is at ${describeUrl(url ?? "")}, which is not https://, http:// or oci://HOST/PATH:TAG`,
      );
    }
    const pin = await pinTag(repository, tag.replaceAll("+", "_"), entry.version, access, options);
    if (pin === undefined)
      throw new AppError(
        chartErrors.CHART_VERSION_NOT_FOUND,
        `${what} is at ${repository}:${tag}, where the registry has nothing`,
      );
    return pin;
  }

  async function pinTag(
    repository: string,
    tag: string,
    version: string,
    access: RepositoryAccess,
    options: ResolveOptions,
  ): Promise<Pin | undefined> {
    const manifest = await deps.oci.manifest({
      repository,
      tag,
      access,
      signal: options.signal,
      ...sharingOf(options),
    });
    return manifest && { kind: "oci", version, repository, tag, ...manifest };
  }

  async function fromRegistry(
    { repository }: OciLocation,
    wanted: string,
    access: RepositoryAccess,
    options: ResolveOptions,
  ): Promise<Resolution> {
    if (isStaticVersion(wanted)) {
      const pin = await pinTag(repository, wanted.replaceAll("+", "_"), wanted, access, options);
      if (pin !== undefined) return { pin, problems: [] };
    }
    return fromTags(repository, wanted, access, options);
  }

  async function fromTags(
    repository: string,
    wanted: string,
    access: RepositoryAccess,
    options: ResolveOptions,
  ): Promise<Resolution> {
    const { tags } = await deps.oci.tags({
      repository,
      access,
      signal: options.signal,
      ...sharingOf(options),
    });
    const selection = selectVersion(tags, wanted, { kind: "tags" });
    switch (selection.kind) {
      case "invalid":
        throw selection.error;
      case "none":
        throw noSuchTag(repository, wanted, tags, selection.highest);
      case "found": {
        const pin = await pinTag(
          repository,
          selection.text,
          selection.version.text,
          access,
          options,
        );
        if (pin !== undefined) return { pin, problems: [] };
        throw new AppError(
          chartErrors.CHART_VERSION_NOT_FOUND,
          `${repository} lists the tag ${selection.text}, but has nothing under it`,
        );
      }
      default:
        return unreachable(selection);
    }
  }

  return {
    async listChartVersions(source, access, options = {}) {
      switch (source.kind) {
        case "tarball":
          return { versions: [], problems: [] };
        case "oci": {
          const { tags } = await deps.oci.tags({
            ...source,
            access,
            signal: options.signal,
            ...sharingOf(options),
          });
          return { versions: tags.map((version) => ({ version })), problems: [] };
        }
        case "http": {
          const index = await indexed(source, access, options);
          if (index.chart === undefined) throw noSuchChart(source, index);
          return { versions: index.chart.entries, problems: index.chart.problems };
        }
        default:
          return unreachable(source);
      }
    },

    async resolve(source, wanted, access, options = {}) {
      switch (source.kind) {
        case "tarball":
          return { pin: { kind: "tarball", url: source.url }, problems: [] };
        case "oci":
          return fromRegistry(source, wanted, access, options);
        case "http":
          return fromIndex(source, wanted, access, options);
        default:
          return unreachable(source);
      }
    },
  };
}

function sharingOf({ since, trigger }: ResolveOptions) {
  return { since, occasion };
}
