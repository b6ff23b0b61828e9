/** What the controllers of Flux's sources run on, over an API server in memory. The test starts the controllers itself. */
import { setTimeout as delay } from "node:timers/promises";
import type { Condition } from "@flotilla/shared/api";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { createFairSemaphore } from "@flotilla/shared/concurrency";
import { findCondition } from "@flotilla/shared/conditions";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmRepositories,
  ociRepositories,
} from "@flotilla/shared/flux";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import type { Controller } from "@flotilla/shared/kube/controller";
import { type KubeObject, keyOf, type Resource, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createProcessWatch } from "@flotilla/shared/process";
import { type Clock, systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import type { TestContext } from "vitest";
import type { FluxInformers } from "../../../base/cache/flux-caches.ts";
import { createChartReader } from "../../../base/reader/chart-reader.ts";
import { createReconcileDurations } from "../../../rules/metrics/reconcile-durations.ts";
import { WorkspaceObjects } from "../../../rules/referenced/workspace-objects.ts";
import { createPinSigner, type PinSigner } from "../../../rules/resolve/pin-signature.ts";
import type { SourceControllerDeps } from "../source-controller.ts";
import type { SourceObject } from "../source-status.ts";

/** The namespace of all objects of the test. */
export const namespace = "apps";

export type SourceInformers = Pick<
  FluxInformers,
  "buckets" | "gitRepositories" | "helmCharts" | "helmRepositories" | "ociRepositories"
>;

export interface TestSources {
  readonly rest: MemoryApiServer;
  /** `Normal NewArtifact`, in order. */
  readonly events: readonly string[];
  readonly signer: PinSigner;
  readonly flux: SourceInformers;
  readonly deps: SourceControllerDeps & {
    readonly flux: SourceInformers;
    readonly signer: PinSigner;
  };
  /** Runs controllers until the test ends. */
  run(...controllers: readonly Controller[]): void;
  /** What `read` returns as soon as it is not undefined. */
  until<T>(read: () => T | undefined): Promise<T>;
  get<T extends KubeObject>(resource: Resource<T>, name: string): T | undefined;
  /** A condition of a source, as it is stored. */
  condition(resource: Resource<SourceObject>, name: string, type: string): Condition | undefined;
  /** Another client changes an object: another `spec` is another generation. */
  change<T extends SourceObject>(resource: Resource<T>, name: string, change: ObjectChange<T>): T;
  /** Asks for a reconcile by annotation. */
  request(resource: Resource<SourceObject>, name: string, value: string): void;
  /** Creates or changes a Secret. */
  putSecret(name: string, data: Readonly<Record<string, string>>): void;
}

export interface ObjectChange<T extends SourceObject> {
  readonly spec?: Partial<NonNullable<T["spec"]>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: T["status"];
}

const pollMs = 5;
const longestMs = 20_000;

/** What charts of trees are read with. */
export function reading(t: TestContext) {
  const watch = createProcessWatch({ totalBytes: 512 * 1024 * 1024 });
  const { readChart, close } = createChartReader({ watch });
  t.onTestFinished(close);
  const budget = createFairSemaphore({ capacity: 1024 * 1024, share: 1024 * 1024 });
  return { readChart, budget };
}

export async function startTestSources(
  t: TestContext,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<TestSources> {
  const rest = createMemoryApiServer();
  const log = silentLog();
  const informer = <T extends KubeObject>(resource: Resource<T>): Informer<T> =>
    createInformer<T>({ rest, resource, log });
  const flux: SourceInformers = {
    buckets: informer(buckets),
    gitRepositories: informer(gitRepositories),
    helmCharts: informer(helmCharts),
    helmRepositories: informer(helmRepositories),
    ociRepositories: informer(ociRepositories),
  };
  const objects = new WorkspaceObjects({ rest, clock: systemClock, log });
  const signer = createPinSigner(Buffer.from("the key of this hub"));
  const events: string[] = [];
  const deps = {
    ...{ rest, clock, log, objects, signer, flux, hubId: "hub", metrics: new Registry() },
    durations: createReconcileDurations(clock),
    events: {
      record: (_: unknown, { type, reason }: { readonly type: string; readonly reason: string }) =>
        void events.push(`${type} ${reason}`),
      flush: () => Promise.resolve(),
    },
  };
  const stop = new AbortController();
  const informers: readonly Pick<Informer<KubeObject>, "run" | "synced">[] = Object.values(flux);
  const running = [...informers, objects].map((each) => each.run(stop.signal));
  t.onTestFinished(async () => {
    stop.abort();
    await Promise.allSettled(running);
  });
  await Promise.all(informers.map(({ synced }) => synced));

  function put<T extends SourceObject>(
    resource: Resource<T>,
    name: string,
    { spec, annotations, status }: ObjectChange<T>,
  ): T {
    const known = rest.peek(resource, { namespace, name });
    if (known === undefined) throw new Error(`there is no ${resource.kind} ${name}`);
    const { metadata } = known;
    return rest.put(resource, {
      ...known,
      metadata: {
        ...metadata,
        ...(spec !== undefined && { generation: (metadata.generation ?? 0) + 1 }),
        annotations: { ...metadata.annotations, ...annotations },
      },
      ...(spec !== undefined && { spec: { ...known.spec, ...spec } }),
      ...(status !== undefined && { status }),
    });
  }

  return {
    ...{ rest, events, signer, flux, deps },
    run(...controllers) {
      running.push(...controllers.map((each) => each.run(stop.signal)));
    },
    async until(read) {
      for (let waitedMs = 0; waitedMs < longestMs; waitedMs += pollMs) {
        const found = read();
        if (found !== undefined) return found;
        await delay(pollMs);
      }
      const all = Object.entries(flux).flatMap(([, { store }]) =>
        (store as FluxInformers["helmCharts"]["store"]).list().map((each) => ({
          key: keyOf(each),
          status: each.status,
        })),
      );
      throw new Error(`not reached: ${JSON.stringify(all)}`);
    },
    get: (resource, name) => rest.peek(resource, { namespace, name }),
    condition: (resource, name, type) =>
      findCondition(rest.peek(resource, { namespace, name })?.status?.conditions, type),
    change: put,
    request: (resource, name, value) =>
      void put(resource, name, { annotations: { [reconcileRequestAnnotation]: value } }),
    putSecret(name, data) {
      const encoded = Object.entries(data).map(([key, text]) => [
        key,
        Buffer.from(text).toString("base64"),
      ]);
      rest.put(secrets, { metadata: { name, namespace }, data: Object.fromEntries(encoded) });
    },
  };
}
