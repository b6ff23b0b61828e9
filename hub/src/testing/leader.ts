/** The controllers of a leader on an API server in memory. The test controls the clock and what watches deliver. */
import type { ObjectRef } from "@flotilla/proto";
import {
  bundleDeployments,
  bundles,
  clusterGroups,
  clusters,
  helmOps,
  policies,
} from "@flotilla/shared/api";
import { packContent } from "@flotilla/shared/content";
import type { EventNote } from "@flotilla/shared/kube/events";
import {
  type KubeObject,
  keyOf,
  namespaces,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import type { Resolver } from "@flotilla/shared/source/client";
import { createFakeClock, type FakeClock, settle } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { createContentStore } from "../content/index.ts";
import { createControllers } from "../leader/run-controllers.ts";
import { createSentObject } from "../referenced/sent-object.ts";
import type { WorkspaceObject } from "../referenced/workspace-object.ts";
import type { WorkspaceListener } from "../referenced/workspace-objects.ts";
import { createPinSigner } from "../resolve/index.ts";
import { createTestCaches } from "./test-caches.ts";
import type { WatchedStore } from "./watched-store.ts";

type SecretData = Readonly<Record<string, string>>;

export interface TestLeader {
  readonly rest: MemoryApiServer;
  readonly clock: FakeClock;
  readonly events: readonly EventNote[];
  readonly caches: ReturnType<typeof createTestCaches>;
  /** Creates, changes or deletes a Secret of a workspace. */
  putSecret(namespace: string, name: string, data: SecretData | undefined): void;
  /** The watches deliver what was written since. */
  deliver(): void;
  /** The watches deliver, and the clock advances in small steps. */
  pass(ms: number): Promise<void>;
  /** The next leader: all memory but the informers is lost, pending status writes included. */
  drop(): Promise<void>;
  stop(): Promise<void>;
}

const stepMs = 100;

export function createTestLeader(resolver: Resolver): TestLeader {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const events: EventNote[] = [];
  const caches = createTestCaches();
  const secretsOf = new Map<string, { readonly version: number; readonly data: SecretData }>();
  const listeners = new Set<WorkspaceListener>();
  /** Compression runs in real time, not on the fake clock. */
  const packings = new Set<Promise<unknown>>();
  let lastVersion = 0;
  let running = start();

  function readSecret(namespace: string, ref: ObjectRef): Promise<WorkspaceObject> {
    const found = secretsOf.get(placeOf(namespace, ref));
    if (found === undefined) return Promise.resolve({ kind: "absent" });
    const data = Object.fromEntries(
      Object.entries(found.data).map(([name, text]) => [
        name,
        Buffer.from(text).toString("base64"),
      ]),
    );
    return Promise.resolve({
      kind: "present",
      resourceVersion: String(found.version),
      object: { data },
      sent: createSentObject({ data }),
    });
  }

  function start() {
    const ending = new AbortController();
    const log = silentLog();
    const controllers = createControllers({
      rest,
      caches,
      resolver,
      pack: (content) => {
        const packing = packContent(content);
        packings.add(packing);
        return packing;
      },
      clock,
      log,
      hubId: "hub",
      metrics: new Registry(),
      signer: createPinSigner(Buffer.from("key")),
      contents: createContentStore({
        rest,
        stored: caches.contents.store,
        namespace: "flotilla-system",
        clock,
      }),
      events: {
        record: (_, note) => void events.push(note),
        flush: () => Promise.resolve(),
      },
      objects: {
        watch: () => undefined,
        unwatch: () => undefined,
        known: readSecret,
        refresh: readSecret,
        onChange(listener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
    });
    const stop = controllers.start();
    const ended = Promise.all(controllers.all.map((each) => each.run(ending.signal)));
    return {
      async end() {
        ending.abort();
        stop();
        await ended;
      },
    };
  }

  function deliverKind<T extends KubeObject>(cache: WatchedStore<T>, objects: readonly T[]): void {
    const found = new Set(objects.map(keyOf));
    for (const object of objects) cache.saw(object);
    for (const key of cache.keys()) {
      if (!found.has(key)) cache.missed(key);
    }
  }

  async function packed(): Promise<void> {
    while (packings.size > 0) {
      const now = [...packings];
      await Promise.allSettled(now);
      for (const packing of now) packings.delete(packing);
      await settle();
    }
  }

  function deliver(): void {
    const deliverAll = <T extends KubeObject>(cache: WatchedStore<T>, resource: Resource<T>) =>
      deliverKind(cache, rest.all(resource));
    deliverAll(caches.policies, policies);
    deliverAll(caches.groups, clusterGroups);
    deliverAll(caches.namespaces, namespaces);
    deliverAll(caches.clusters, clusters);
    deliverAll(caches.helmOps, helmOps);
    deliverAll(caches.bundles, bundles);
    deliverAll(caches.deployments, bundleDeployments);
    deliverAll(caches.contents, secrets);
  }

  return {
    rest,
    clock,
    events,
    caches,
    putSecret(namespace, name, data) {
      const ref = { kind: "Secret", name } as const;
      lastVersion += 1;
      if (data === undefined) secretsOf.delete(placeOf(namespace, ref));
      else secretsOf.set(placeOf(namespace, ref), { version: lastVersion, data });
      for (const listener of listeners) listener(namespace, ref);
    },
    deliver,
    async pass(ms) {
      for (let left = ms; left > 0; left -= stepMs) {
        deliver();
        await clock.advance(Math.min(stepMs, left));
        await packed();
      }
      deliver();
      await clock.advance(0);
      await packed();
    },
    async drop() {
      await running.end();
      running = start();
    },
    stop: () => running.end(),
  };
}

function placeOf(namespace: string, { kind, name }: ObjectRef): string {
  return `${namespace} ${kind}/${name}`;
}
