/** The client of all chart sources. It owns its connections, its caches and the thread that parses indexes. */

import { unreachable } from "../../../runtime/errors/index.ts";
import { type Log, silentLog } from "../../../runtime/log/index.ts";
import { type Clock, systemClock } from "../../../runtime/time/index.ts";
import { createPatterns } from "../../../text/regex/index.ts";
import { createArchiveSource } from "../archive/index.ts";
import { BucketClient, type BucketLimits } from "../bucket/index.ts";
import {
  createHttpSource,
  createIndexReader,
  createIndexRepository,
  type IndexReaderOptions,
  type IndexSummary,
  indexLimits,
} from "../http/index.ts";
import type {
  DownloadPin,
  FetchArchive,
  Freshness,
  Listing,
  RepositoryAccess,
  ResolvedPin,
  SourceLocation,
  SourceRequest,
} from "../index.ts";
import {
  createOciArtifacts,
  createOciRegistry,
  createOciSource,
  createRegistryAuth,
  createTagLists,
  type OciArtifacts,
} from "../oci/index.ts";
import {
  createConnectionPools,
  createExchanger,
  type EgressPolicy,
  type ProxySettings,
  type ResolveAll,
} from "../transport/index.ts";
import { resolveVersion } from "./resolve.ts";

export interface SourceClientOptions {
  readonly userAgent: string;
  readonly log?: Log;
  /** None by default: only the program's configuration reads the environment. */
  readonly proxy?: ProxySettings;
  /** The limit of an index, uncompressed. */
  readonly maxIndexBytes?: number;
  /** For the whole request of an index. */
  readonly indexTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** The longest time without any byte from a server. */
  readonly idleTimeoutMs?: number;
  readonly connectionsPerHost?: number;
  readonly index?: IndexReaderOptions;
  /** Default: everything but link-local addresses may be contacted. */
  readonly egress?: EgressPolicy;
  /** Resolves the names of hosts; default: the system. For tests. */
  readonly resolveAll?: ResolveAll;
  /** What the program may use; indexes get a part of it. Default: enough for large ones. */
  readonly memoryBytes?: number;
  readonly clock?: Clock;
  readonly bucketLimits?: BucketLimits;
}

export interface ResolveOptions extends Freshness {
  readonly signal?: AbortSignal | undefined;
}

/** Resolves a version or constraint to a pin; empty means the newest release. Throws an AppError that says why it has none. */
export interface Resolver {
  resolve(
    location: SourceLocation,
    constraint: string,
    access: RepositoryAccess,
    options?: ResolveOptions,
  ): Promise<ResolvedPin>;
}

/** Reads the index of an HTTP repository, with a conditional request where one is cached. Throws as `resolve`. */
export type ReadIndex = (
  repository: string,
  access: RepositoryAccess,
  options?: ResolveOptions,
) => Promise<IndexSummary>;

export interface SourceClient extends Resolver {
  readonly artifacts: OciArtifacts;
  readonly readIndex: ReadIndex;
  /** The versions that a source has; undefined for a source without versions. Throws when it does not have the chart. */
  list(
    location: SourceLocation,
    access: RepositoryAccess,
    options?: ResolveOptions,
  ): Promise<Listing | undefined>;
  readonly fetch: FetchArchive<DownloadPin>;
  readonly buckets: BucketClient;
  close(): Promise<void>;
}

const defaultMemoryBytes = 8 * 1024 * 1024 * 1024;

export function createSourceClient(options: SourceClientOptions): SourceClient {
  const log = options.log ?? silentLog();
  const clock = options.clock ?? systemClock;
  const pools = createConnectionPools({
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
    connectionsPerHost: options.connectionsPerHost ?? 8,
    maxPools: 32,
    egress: options.egress ?? { allowLoopback: true },
    ...(options.resolveAll !== undefined && { resolveAll: options.resolveAll }),
  });
  const { maxCachedBytes, ...readerLimits } = indexLimits(
    options.memoryBytes ?? defaultMemoryBytes,
  );
  const reader = createIndexReader({ ...readerLimits, ...options.index });
  const exchange = createExchanger({ pools, userAgent: options.userAgent });
  const auth = createRegistryAuth({ exchange, clock });
  const registry = createOciRegistry({ exchange, auth, log });
  const listTags = createTagLists(registry);
  const oci = createOciSource({ registry, listTags, clock });
  const indexes = createIndexRepository(
    { exchange, reader, clock, log },
    {
      maxIndexBytes: options.maxIndexBytes ?? 128 * 1024 * 1024,
      maxRepositories: 64,
      maxCachedBytes,
      timeoutMs: options.indexTimeoutMs ?? 300_000,
    },
  );
  const http = createHttpSource({ indexes, exchange, pinTag: oci.pinTag });
  const archive = createArchiveSource({ exchange });

  function listAt(location: SourceLocation, request: SourceRequest): Promise<Listing | undefined> {
    switch (location.kind) {
      case "tarball":
        return archive.list(location, request);
      case "oci":
        return oci.list(location, request);
      case "http":
        return http.list(location, request);
      default:
        return unreachable(location);
    }
  }

  return {
    artifacts: createOciArtifacts({ registry, listTags, patterns: createPatterns() }),
    buckets: new BucketClient({ exchange, clock, limits: options.bucketLimits }),
    readIndex: (repository, access, options = {}) =>
      indexes.summary({ repository, ...options, access }),
    async list(location, access, options = {}) {
      const listing = await listAt(location, { ...options, access });
      if (listing?.notFound !== undefined) throw listing.notFound;
      return listing;
    },
    async resolve(location, constraint, access, options = {}) {
      const request = { ...options, access };
      switch (location.kind) {
        case "tarball":
          return resolveVersion(archive, location, constraint, request);
        case "oci":
          return resolveVersion(oci, location, constraint, request);
        case "http":
          return resolveVersion(http, location, constraint, request);
        default:
          return unreachable(location);
      }
    },
    async fetch(pin, write, request) {
      switch (pin.kind) {
        case "tarball":
          return archive.fetch(pin, write, request);
        case "oci":
          return oci.fetch(pin, write, request);
        case "http":
          return http.fetch(pin, write, request);
        default:
          return unreachable(pin);
      }
    },
    async close() {
      await Promise.all([reader.close(), pools.close()]);
    },
  };
}
