import assert from "node:assert/strict";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { configMaps, type KubeObject, type Resource } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import type { OwnedObject } from "../record/index.ts";
import { builtInKind } from "./built-in-kinds.ts";
import type { Readiness } from "./readiness.ts";
import { createReadinessTracker } from "./tracker.ts";

const config: OwnedObject = { apiVersion: "v1", kind: "ConfigMap", name: "config" };
const pod: OwnedObject = { apiVersion: "v1", kind: "Pod", name: "pod" };
const thing: OwnedObject = { apiVersion: "example.com/v1", kind: "Thing", name: "thing" };
const things: Resource<KubeObject> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};
const pods = builtInKind("v1", "Pod") ?? things;

function podThat(phase: string): KubeObject {
  const object = { metadata: { namespace: "apps", name: "pod" }, status: { phase } };
  return object;
}

function statusError(status: number, message: string): KubeStatusError {
  return new KubeStatusError(message, { status, reason: "" });
}

const thingsDiscovery = JSON.stringify({
  resources: [
    { name: "things", kind: "Thing", namespaced: true },
    { name: "things/status", kind: "Thing", namespaced: true },
  ],
});

function setUp(t: TestContext) {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const tracker = createReadinessTracker({ rest, clock, log: silentLog() });
  const checks = new Set<() => void>();
  const reported: string[] = [];
  tracker.onChange((name) => {
    reported.push(name);
    for (const check of checks) check();
  });
  const ending = new AbortController();
  const running = tracker.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  /** Resolves once the readiness of a release satisfies `isExpected`. */
  function readiness(name: string, isExpected: (readiness: Readiness) => boolean) {
    return new Promise<Readiness>((resolve) => {
      const check = (): void => {
        const found = tracker.readinessOf(name);
        if (found === undefined || !isExpected(found)) return;
        checks.delete(check);
        resolve(found);
      };
      checks.add(check);
      check();
    });
  }
  const client = { subject: "the agent", rest, isPerNamespace: false };
  return {
    rest,
    clock,
    tracker: {
      ...tracker,
      track: (name: string, objects: readonly OwnedObject[], namespace: string) =>
        tracker.track(name, objects, { namespace, client }),
    },
    reported,
    readiness,
    /** With the agent's tracker, but as an account. */
    trackAs: tracker.track,
  };
}

describe("the objects of releases of several accounts", () => {
  test("are watched once for each account, namespace and kind, until the last release is gone", async (t) => {
    const { rest, tracker, trackAs, readiness } = setUp(t);
    const [a, b] = ["a", "b"].map((subject) => ({ subject, rest, isPerNamespace: true }));
    assert.ok(a !== undefined && b !== undefined);
    for (const namespace of ["apps", "shop"])
      rest.put(configMaps, { metadata: { namespace, name: "config" } });

    trackAs("web", [config], { namespace: "apps", client: a });
    trackAs("again", [config], { namespace: "apps", client: a });
    trackAs("shop", [config], { namespace: "shop", client: a });
    trackAs("other", [config], { namespace: "apps", client: b });
    for (const name of ["web", "again", "shop", "other"])
      await readiness(name, ({ ready }) => ready);

    const lists = ["list configmaps apps", "list configmaps shop", "list configmaps apps"];
    assert.deepEqual(rest.reads, lists);
    tracker.forget("web");
    trackAs("web", [config], { namespace: "apps", client: a });
    await readiness("web", ({ ready }) => ready);
    assert.equal(rest.reads.length, 3, "the watch was kept for the other release");
    tracker.forget("web");
    tracker.forget("again");
    trackAs("web", [config], { namespace: "apps", client: a });
    await readiness("web", ({ ready }) => ready);
    assert.equal(rest.reads.length, 4, "the watch had ended with its last release");
  });

  test("that an account may not list are unknown, and the message names the account", async (t) => {
    const { rest, trackAs, readiness } = setUp(t);
    rest.list = () => Promise.reject(statusError(403, "list configmaps: 403 Forbidden"));
    const client = { subject: "service account team-a/deployer", rest, isPerNamespace: true };

    trackAs("web", [config], { namespace: "apps", client });

    const { notReady } = await readiness("web", () => true);
    assert.equal(
      notReady[0]?.message,
      "service account team-a/deployer may not list this kind: list configmaps: 403 Forbidden",
    );
  });
});

describe("the objects of a release", () => {
  test("are ready when each object is ready, and are updated with the objects", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    rest.put(pods, podThat("Pending"));

    tracker.track("web", [config, pod], "apps");
    const before = await readiness("web", () => true);
    assert.deepEqual(before, {
      ready: false,
      notReady: [
        {
          ...pod,
          namespace: "apps",
          state: "in-progress",
          message: "its containers are not ready",
        },
      ],
      resources: [
        { ...pod, namespace: "apps", state: "in-progress" },
        { ...config, namespace: "apps", state: "ready" },
      ],
      incomplete: false,
      counts: { desiredReady: 2, ready: 1, notReady: 1, missing: 0, unknown: 0 },
    });

    rest.put(pods, podThat("Succeeded"));
    const after = await readiness("web", ({ ready }) => ready);
    assert.deepEqual(after.counts, {
      desiredReady: 2,
      ready: 2,
      notReady: 0,
      missing: 0,
      unknown: 0,
    });

    await rest.delete(configMaps, { namespace: "apps", name: "config" });
    const missing = await readiness("web", ({ ready }) => !ready);
    assert.deepEqual(missing.notReady, [
      { ...config, namespace: "apps", state: "missing", message: "does not exist" },
    ]);
  });

  test("are read from the namespace in the manifest", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "elsewhere", name: "config" } });

    tracker.track("web", [{ ...config, namespace: "elsewhere" }], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });

  test("have no namespace if their kind is cluster-scoped", async (t) => {
    const { tracker, readiness } = setUp(t);
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      name: "role",
      namespace: "ignored",
    };

    tracker.track("web", [role], "apps");

    const { namespace: _, ...clusterWide } = role;
    assert.deepEqual((await readiness("web", () => true)).notReady, [
      { ...clusterWide, state: "missing", message: "does not exist" },
    ]);
  });

  test("of a missing kind are unknown until the kind is created", async (t) => {
    const { rest, clock, tracker, readiness } = setUp(t);
    rest.put(things, { metadata: { namespace: "apps", name: "thing" } });

    tracker.track("web", [thing], "apps");
    const before = await readiness("web", () => true);
    assert.equal(before.counts.unknown, 1);
    assert.equal(before.notReady[0]?.message, "the cluster does not have this kind");

    rest.rawResponses.set("/apis/example.com/v1", thingsDiscovery);
    await clock.advance(1_000);
    await readiness("web", ({ ready }) => ready);
  });

  test("are reported only for the release that owns them", async (t) => {
    const { rest, tracker, reported, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    rest.put(configMaps, { metadata: { namespace: "shop", name: "config" } });
    tracker.track("web", [config], "apps");
    tracker.track("shop", [config], "shop");
    await Promise.all([readiness("web", () => true), readiness("shop", () => true)]);
    reported.length = 0;

    await rest.delete(configMaps, { namespace: "shop", name: "config" });
    await readiness("shop", ({ ready }) => !ready);

    assert.deepEqual(reported, ["shop"]);
  });

  test("that are not ready are all counted, and the first ten are listed in a stable order (rancher/fleet#3532)", async (t) => {
    const { tracker, readiness } = setUp(t);
    const many = Array.from({ length: 25 }, (_, n) => ({ ...config, name: `c${99 - n}` }));

    tracker.track("web", many, "apps");
    const { notReady, counts } = await readiness("web", () => true);

    assert.equal(counts.missing, 25);
    assert.deepEqual(
      notReady.map(({ name }) => name),
      Array.from({ length: 10 }, (_, n) => `c${75 + n}`),
    );
  });

  test("are replaced by the next call of track", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    tracker.track("web", [config, pod], "apps");
    await readiness("web", ({ ready }) => !ready);

    tracker.track("web", [config], "apps");

    assert.equal((await readiness("web", ({ ready }) => ready)).counts.desiredReady, 1);
  });

  test("are not watched after forget", async (t) => {
    const { tracker, reported, readiness } = setUp(t);
    tracker.track("web", [config], "apps");
    await readiness("web", () => true);
    reported.length = 0;

    tracker.forget("web");

    assert.equal(tracker.readinessOf("web"), undefined);
    assert.deepEqual(reported, []);
  });

  test("are ready if there are none", async (t) => {
    const { tracker, readiness } = setUp(t);

    tracker.track("web", [], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });
});

describe("the cached object of a workload", () => {
  test("is ignored if it is older than the object in the API", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    const { list } = rest;
    const [requested, listed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // A slow response.
    rest.list = async (resource, options) => {
      const page = await list(resource, options);
      requested.resolve();
      await listed.promise;
      return page;
    };
    rest.put(pods, podThat("Succeeded"));
    tracker.track("shop", [pod], "apps");
    await requested.promise;

    rest.put(pods, podThat("Pending"));
    tracker.track("web", [pod], "apps");
    await settle();
    // Until the end of the test no event reports what the list has missed.
    rest.watch = async function* (_, { signal }) {
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      yield* [];
    };
    listed.resolve();

    assert.equal((await readiness("web", () => true)).ready, false);
  });

  test("is not replaced by a response that is older than a later list", async (t) => {
    const { rest, clock, tracker, readiness } = setUp(t);
    const { get, watch } = rest;
    const responded = Promise.withResolvers<void>();
    const cut = Promise.withResolvers<never>();
    cut.promise.catch(() => undefined);
    rest.put(pods, podThat("Running"));
    const [requested, relisted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    rest.get = async (resource, ref) => {
      rest.get = get;
      rest.put(pods, podThat("Pending"));
      const object = await get(resource, ref);
      requested.resolve();
      await responded.promise;
      return object;
    };
    // A watch that sends nothing and breaks; the next one works.
    rest.watch = async function* () {
      rest.watch = (resource, options) => {
        relisted.resolve();
        return watch(resource, options);
      };
      yield await cut.promise;
    };

    tracker.track("web", [pod], "apps");
    await requested.promise;
    rest.put(pods, podThat("Succeeded"));
    cut.reject(new Error("cut"));
    await clock.advance(await clock.timer());
    await relisted.promise;
    responded.resolve();

    assert.ok((await readiness("web", () => true)).ready);
  });

  test("is used if the object cannot be read", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    rest.get = () => Promise.reject(statusError(500, "get pods: 500"));
    rest.put(pods, podThat("Succeeded"));

    tracker.track("web", [pod], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });
});

describe("a kind that cannot be listed", () => {
  for (const [why, thrown, message] of [
    [
      "discovery returns 503",
      statusError(503, "get /apis/example.com/v1: 503 ServiceUnavailable"),
      "discovery of this kind failed: get /apis/example.com/v1: 503 ServiceUnavailable",
    ],
    [
      "discovery times out",
      new Error("get /apis/example.com/v1: no answer within 10 s"),
      "discovery of this kind failed: get /apis/example.com/v1: no answer within 10 s",
    ],
    [
      "discovery is forbidden",
      statusError(403, "get /apis/example.com/v1: 403 Forbidden"),
      "the agent may not discover this kind: get /apis/example.com/v1: 403 Forbidden",
    ],
  ] as const) {
    test(`because ${why} is unknown, with the error in the message, until it can be listed`, async (t) => {
      const { rest, clock, tracker, readiness } = setUp(t);
      const { raw } = rest;
      rest.raw = () => Promise.reject(thrown);
      rest.put(things, { metadata: { namespace: "apps", name: "thing" } });
      rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });

      tracker.track("web", [thing, config], "apps");
      const before = await readiness("web", () => true);
      assert.deepEqual(before.notReady, [
        { ...thing, namespace: "apps", state: "unknown", message },
      ]);
      assert.deepEqual([before.counts.ready, before.counts.unknown], [1, 1]);

      rest.raw = raw;
      rest.rawResponses.set("/apis/example.com/v1", thingsDiscovery);
      await clock.advance(1_000);
      await readiness("web", ({ ready }) => ready);
    });
  }

  for (const [status, message] of [
    [403, "the agent may not list this kind: list pods: failed with 403"],
    [500, "this kind could not be listed: list pods: failed with 500"],
  ] as const) {
    test(`because of status ${status} is unknown, with the error in the message, until it can be listed`, async (t) => {
      const { rest, clock, tracker, readiness } = setUp(t);
      const { list } = rest;
      rest.list = (resource, options) =>
        resource.kind === "Pod"
          ? Promise.reject(statusError(status, `list pods: failed with ${status}`))
          : list(resource, options);
      rest.put(pods, podThat("Succeeded"));

      tracker.track("web", [pod], "apps");
      const before = await readiness("web", () => true);
      assert.deepEqual(before.notReady, [{ ...pod, namespace: "apps", state: "unknown", message }]);
      assert.equal(before.counts.unknown, 1);

      rest.list = list;
      await clock.advance(await clock.timer());
      assert.ok((await readiness("web", ({ counts }) => counts.unknown === 0)).ready);
    });
  }

  test("but was listed before keeps its state during a short failure", async (t) => {
    const { rest, clock, tracker, reported, readiness } = setUp(t);
    const { list, watch } = rest;
    const cut = Promise.withResolvers<never>();
    cut.promise.catch(() => undefined);
    rest.watch = async function* () {
      yield await cut.promise;
    };
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    tracker.track("web", [config], "apps");
    await readiness("web", ({ ready }) => ready);

    rest.watch = watch;
    rest.list = () => Promise.reject(statusError(500, "list configmaps: 500"));
    cut.reject(new Error("cut"));
    await clock.advance(await clock.timer());
    rest.list = list;
    await rest.delete(configMaps, { namespace: "apps", name: "config" });
    await clock.advance(await clock.timer());
    await readiness("web", ({ counts }) => counts.missing === 1);

    assert.deepEqual(reported, ["web", "web"]);
  });

  test("is reported even if a listener throws for another release", async (t) => {
    const { tracker, readiness } = setUp(t);
    tracker.onChange((name) => {
      if (name === "web") throw new Error("failure");
    });

    tracker.track("web", [], "apps");
    tracker.track("shop", [], "apps");

    await readiness("shop", ({ ready }) => ready);
  });
});
