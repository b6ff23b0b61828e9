/** The client of chart repositories, put together. It owns its connections, its memory and its thread. */

import { type Log, silentLog } from "../log/log.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import { createOpenChart, type OpenChart } from "./chart-download.ts";
import { createConnectionPools, type ProxySettings } from "./connection-pools.ts";
import { createExchanger } from "./exchange.ts";
import { createHttpRepositories } from "./http-repository.ts";
import { createIndexReader, type IndexReaderOptions } from "./index-reader.ts";
import { createOciAuth } from "./oci-auth.ts";
import { createOciRegistry } from "./oci-registry.ts";
import { createOciRepositories } from "./oci-repository.ts";
import { createResolver, type Resolver } from "./resolve.ts";

export interface ChartClientOptions {
  readonly userAgent: string;
  readonly log?: Log;
  /** None by default: the environment is read by the program's configuration alone. */
  readonly proxy?: ProxySettings;
  /** An index larger than this, unpacked, is refused. */
  readonly maxIndexBytes?: number;
  /** For an index, its whole. */
  readonly indexTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** The longest silence of a server. */
  readonly silenceTimeoutMs?: number;
  readonly connectionsPerHost?: number;
  readonly index?: IndexReaderOptions;
  readonly clock?: Clock;
}

export interface ChartClient extends Resolver {
  /** For `createChartCache`: the archive's bytes on their way. */
  readonly open: OpenChart;
  close(): Promise<void>;
}

export function createChartClient(options: ChartClientOptions): ChartClient {
  const log = options.log ?? silentLog();
  const clock = options.clock ?? systemClock;
  const pools = createConnectionPools({
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    silenceTimeoutMs: options.silenceTimeoutMs ?? 30_000,
    connectionsPerHost: options.connectionsPerHost ?? 8,
    maxPools: 32,
  });
  const reader = createIndexReader(options.index);
  const exchange = createExchanger({ pools, userAgent: options.userAgent });
  const registry = createOciRegistry({ exchange, auth: createOciAuth({ exchange, clock }), log });
  const http = createHttpRepositories(
    { exchange, reader, clock, log },
    {
      maxIndexBytes: options.maxIndexBytes ?? 128 * 1024 * 1024,
      maxRepositories: 64,
      timeoutMs: options.indexTimeoutMs ?? 300_000,
    },
  );
  const oci = createOciRepositories({ registry, clock });

  return {
    ...createResolver({ http, oci }),
    open: createOpenChart({ exchange, registry }),
    async close() {
      await Promise.all([reader.close(), pools.close()]);
    },
  };
}
