/** An informer that follows an API server in memory, over HTTP. */
import type { TestContext } from "vitest";
import { type Log, silentLog } from "../../runtime/log/index.ts";
import { createFakeClock, type FakeClock } from "../../runtime/time/testing/index.ts";
import { type Change, createInformer, type Informer } from "../cache/index.ts";
import { connectKube, type KubeRest } from "../client/index.ts";
import { type ConfigMap, configMaps } from "../objects/index.ts";
import { type HttpApiServer, startHttpApiServer } from "./http-api-server.ts";
import type { Fault } from "./http-faults.ts";

/** The timeout of a request, which is not a delay of the informer's own. */
const requestTimeoutMs = 10_000;

export interface Followed {
  readonly server: HttpApiServer;
  /** The informer's own connections. */
  readonly rest: KubeRest;
  readonly clock: FakeClock;
  readonly informer: Informer<ConfigMap>;
  readonly changes: readonly Change<ConfigMap>[];
  /** The result of each list. */
  readonly listings: readonly string[];
  /** Resolves after this many changes. */
  untilChanges(count: number): Promise<void>;
}

export interface FollowOptions {
  readonly objects?: readonly string[];
  readonly prepare?: (server: HttpApiServer) => void;
  readonly labelSelector?: string;
  readonly log?: Log;
}

/** An informer that follows a server of its own; the clock is fake, and jitter is in the middle. */
export async function follow(t: TestContext, options: FollowOptions = {}): Promise<Followed> {
  const server = await startHttpApiServer();
  const clock = createFakeClock();
  const rest = connectKube({ server: server.url, credentials: { kind: "none" } }, { clock });
  const { labelSelector } = options;
  const listings: string[] = [];
  const informer = createInformer({
    rest,
    resource: configMaps,
    namespace: "default",
    log: options.log ?? silentLog(),
    clock,
    random: () => 0.5,
    freeze: true,
    onListed: (failure) => void listings.push(failure?.message ?? "complete"),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  });
  const changes: Change<ConfigMap>[] = [];
  let waiting: { readonly count: number; resolve(): void }[] = [];
  informer.onChange((change) => {
    changes.push(change);
    for (const { count, resolve } of waiting) if (changes.length >= count) resolve();
    waiting = waiting.filter(({ count }) => changes.length < count);
  });
  for (const name of options.objects ?? []) server.put(configMaps, configMap(name));
  options.prepare?.(server);
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
    await rest.close();
    await server.close();
  });
  return {
    server,
    rest,
    clock,
    informer,
    changes,
    listings,
    untilChanges: (count) =>
      new Promise((resolve) => {
        if (changes.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

export function configMap(name: string, data: Readonly<Record<string, string>> = {}): ConfigMap {
  return { metadata: { name, namespace: "default" }, data };
}

export function namesIn(informer: Informer<ConfigMap>): readonly string[] {
  return informer.store
    .list()
    .map((object) => object.metadata.name)
    .sort();
}

/** How long the informer waits before its next attempt. The timers of open requests are longer. */
export function nextDelay(clock: FakeClock): Promise<number> {
  return clock.timer((delayMs) => delayMs !== requestTimeoutMs && delayMs <= 30_000);
}

export function answersJson(body: unknown): Fault {
  return (response) => {
    response.end(JSON.stringify(body));
  };
}
