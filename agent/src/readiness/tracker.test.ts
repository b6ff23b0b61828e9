import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { createFakeClock } from "@flotilla/shared/clock/testing/fake-clock.ts";
import { configMaps } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/object.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createMemoryRest } from "../testing/memory-rest.ts";
import { builtInKind } from "./built-in-kinds.ts";
import type { OwnedObject } from "./manifest.ts";
import { createReadinessTracker, type Readiness } from "./tracker.ts";

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

function setUp(t: TestContext) {
  const rest = createMemoryRest();
  const clock = createFakeClock();
  const tracker = createReadinessTracker({ rest, clock, log: silentLog() });
  const looks = new Set<() => void>();
  const told: string[] = [];
  tracker.onChange((name) => {
    told.push(name);
    for (const look of looks) look();
  });
  const ending = new AbortController();
  const running = tracker.run(ending.signal);
  t.after(async () => {
    ending.abort();
    await running;
  });
  /** Resolves once `isWanted` holds for how a release is. */
  function readiness(name: string, isWanted: (readiness: Readiness) => boolean) {
    return new Promise<Readiness>((resolve) => {
      const look = (): void => {
        const found = tracker.readinessOf(name);
        if (found === undefined || !isWanted(found)) return;
        looks.delete(look);
        resolve(found);
      };
      looks.add(look);
      look();
    });
  }
  return { rest, clock, tracker, told, readiness };
}

suite("the objects of a release", () => {
  test("are ready when all of them are, and that changes as they do", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    rest.put(pods, podThat("Pending"));

    tracker.track("web", [config, pod], "apps");
    const before = await readiness("web", () => true);
    assert.deepEqual(before, {
      ready: false,
      notReady: [
        { ...pod, namespace: "apps", message: "its containers are not ready", missing: false },
      ],
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
    const gone = await readiness("web", ({ ready }) => !ready);
    assert.deepEqual(gone.notReady, [
      { ...config, namespace: "apps", message: "is not there", missing: true },
    ]);
  });

  test("are looked for in their own namespace where they name one", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "elsewhere", name: "config" } });

    tracker.track("web", [{ ...config, namespace: "elsewhere" }], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });

  test("have no namespace where their kind has none", async (t) => {
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
      { ...clusterWide, message: "is not there", missing: true },
    ]);
  });

  test("of a kind that the cluster does not have are unknown until it has it", async (t) => {
    const { rest, clock, tracker, readiness } = setUp(t);
    rest.put(things, { metadata: { namespace: "apps", name: "thing" } });

    tracker.track("web", [thing], "apps");
    const before = await readiness("web", () => true);
    assert.equal(before.counts.unknown, 1);
    assert.equal(before.notReady[0]?.message, "the cluster does not know this kind");

    rest.answers.set(
      "/apis/example.com/v1",
      JSON.stringify({
        resources: [
          { name: "things", kind: "Thing", namespaced: true },
          { name: "things/status", kind: "Thing", namespaced: true },
        ],
      }),
    );
    await clock.advance(1_000);
    await readiness("web", ({ ready }) => ready);
  });

  test("are told to the releases that own them, and to no other", async (t) => {
    const { rest, tracker, told, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    rest.put(configMaps, { metadata: { namespace: "shop", name: "config" } });
    tracker.track("web", [config], "apps");
    tracker.track("shop", [config], "shop");
    await Promise.all([readiness("web", () => true), readiness("shop", () => true)]);
    told.length = 0;

    await rest.delete(configMaps, { namespace: "shop", name: "config" });
    await readiness("shop", ({ ready }) => !ready);

    assert.deepEqual(told, ["shop"]);
  });

  test("are ten at most where they are not ready, in a stable order, and all are counted", async (t) => {
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

  test("are those that were named last", async (t) => {
    const { rest, tracker, readiness } = setUp(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    tracker.track("web", [config, pod], "apps");
    await readiness("web", ({ ready }) => !ready);

    tracker.track("web", [config], "apps");

    assert.equal((await readiness("web", ({ ready }) => ready)).counts.desiredReady, 1);
  });

  test("are followed no more when they are forgotten", async (t) => {
    const { tracker, told, readiness } = setUp(t);
    tracker.track("web", [config], "apps");
    await readiness("web", () => true);
    told.length = 0;

    tracker.forget("web");

    assert.equal(tracker.readinessOf("web"), undefined);
    assert.deepEqual(told, []);
  });

  test("that are none are ready", async (t) => {
    const { tracker, readiness } = setUp(t);

    tracker.track("web", [], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });
});
