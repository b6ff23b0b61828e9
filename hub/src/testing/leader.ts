/** The controllers of a leader on an API server in memory. The test controls the clock and what watches deliver. */
import type { ObjectRef } from "@flotilla/proto";
import {
  bundleDeployments,
  bundleNamespaceMappings,
  bundles,
  clusterGroups,
  clusters,
  helmOps,
  policies,
  schedules,
} from "@flotilla/shared/api";
import { bundleRollouts, gates, rolloutPolicies } from "@flotilla/shared/api/rollout";
import { packContent } from "@flotilla/shared/content";
import type { EventNote } from "@flotilla/shared/kube/events";
import { fenceWrites } from "@flotilla/shared/kube/leaderelection";
import {
  type KubeObject,
  keyOf,
  namespaces,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import type { ReadIndex, Resolver } from "@flotilla/shared/source/client";
import { createFakeClock, type FakeClock, settle } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { contentLabel } from "../base/cache/keys.ts";
import type { SendEvent } from "../events/notification/sender.ts";
import { storeEventsFirst } from "../events/notification/stored-first.ts";
import { createReceiverController } from "../events/receiver/controller.ts";
import type { FluxDeps } from "../process/leader/deps.ts";
import { createControllers } from "../process/leader/run-controllers.ts";
import type { AskAgent } from "../rollout/index.ts";
import { createContentStore } from "../rules/content/content-store.ts";
import { createSentObject } from "../rules/referenced/sent-object.ts";
import type { WorkspaceObject } from "../rules/referenced/workspace-object.ts";
import type { WorkspaceListener } from "../rules/referenced/workspace-objects.ts";
import { createPinSigner } from "../rules/resolve/pin-signature.ts";
import { createTestCaches } from "./test-caches.ts";
import { createTestFlux, testFluxDeps } from "./test-flux.ts";
import { createTestNotifications } from "./test-notifications.ts";
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

export interface TestLeaderOptions {
  /** The indexes of HelmRepositories. Without it there are no controllers of Flux's kinds. */
  readonly readIndex?: ReadIndex;
  readonly bucketClient?: FluxDeps["bucketClient"];
  readonly git?: FluxDeps["gitParts"]["git"];
  readonly artifacts?: FluxDeps["artifacts"];
  /** Sends events to Providers. Without it nothing is. */
  readonly send?: SendEvent;
  /** Agents that say what would change. Without it none answers. */
  readonly askAgent?: AskAgent;
  /** As for staged rollouts. */
  readonly unverifiedApprovals?: boolean;
}

const noAgent: AskAgent = () =>
  Promise.resolve({ kind: "unknown", reason: "Offline", message: "its agent is offline" });

export function createTestLeader(
  resolver: Resolver,
  {
    readIndex,
    bucketClient,
    git,
    artifacts,
    send,
    askAgent = noAgent,
    unverifiedApprovals,
  }: TestLeaderOptions = {},
): TestLeader {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const events: EventNote[] = [];
  const caches = createTestCaches();
  const flux = createTestFlux();
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
    const recorder = {
      record: (_: KubeObject, note: EventNote) => void events.push(note),
      flush: () => Promise.resolve(),
    };
    /** A process that has ended writes nothing, whatever its timers do on this clock. */
    const own = fenceWrites(rest, {
      confirmLeading: () =>
        ending.signal.aborted ? Promise.reject(new Error("it has ended")) : Promise.resolve(),
      remainingMs: () => Number.POSITIVE_INFINITY,
    });
    const notifications =
      send &&
      createTestNotifications({ rest: own, informers: flux.informers, recorder, send, clock });
    const deps = {
      rest: notifications === undefined ? own : storeEventsFirst(own, notifications),
      clock,
      log,
      metrics: new Registry(),
      events: notifications?.events ?? recorder,
      objects: {
        watch: () => undefined,
        unwatch: () => undefined,
        known: readSecret,
        refresh: readSecret,
        onChange(listener: WorkspaceListener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
    };
    const sources = readIndex && { readIndex, bucketClient, git, artifacts };
    const fluxDeps = sources && testFluxDeps(flux.informers, sources, clock);
    const controllers = createControllers({
      ...deps,
      caches,
      resolver,
      askAgent,
      unverifiedApprovals,
      pack: (content) => {
        const packing = packContent(content);
        packings.add(packing);
        return packing;
      },
      hubId: "hub",
      signer: createPinSigner(Buffer.from("key")),
      contents: createContentStore({
        rest: own,
        stored: caches.contents.store,
        namespace: "flotilla-system",
        clock,
      }),
      observer: notifications?.observer,
      ...(fluxDeps !== undefined && { flux: fluxDeps }),
    });
    const stop = controllers.start();
    const all = [
      ...controllers.all,
      ...(fluxDeps === undefined
        ? []
        : [
            createReceiverController({
              ...deps,
              receivers: flux.informers.receivers,
              durations: fluxDeps.durations,
              crossNamespace: false,
            }),
          ]),
    ];
    const ended = Promise.all([
      ...all.map((each) => each.run(ending.signal)),
      notifications?.run(ending.signal),
      notifications?.deliver(() => undefined, ending.signal),
    ]);
    return {
      async end() {
        ending.abort();
        stop();
        await notifications?.flush();
        await ended;
        await notifications?.close();
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
    deliverAll(caches.schedules, schedules);
    deliverAll(caches.groups, clusterGroups);
    deliverAll(caches.namespaces, namespaces);
    deliverAll(caches.workspaces, namespaces);
    deliverAll(caches.mappings, bundleNamespaceMappings);
    deliverAll(caches.clusters, clusters);
    deliverAll(caches.helmOps, helmOps);
    deliverAll(caches.bundles, bundles);
    deliverAll(caches.deployments, bundleDeployments);
    deliverAll(caches.rollouts, bundleRollouts);
    deliverAll(caches.gates, gates);
    deliverAll(caches.rolloutPolicies, rolloutPolicies);
    const contents = rest
      .all(secrets)
      .filter(({ metadata }) => metadata.labels?.[contentLabel] !== undefined);
    deliverKind(caches.contents, contents);
    flux.each(deliverAll);
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
