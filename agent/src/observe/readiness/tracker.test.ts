import assert from "node:assert/strict";
import { configMaps } from "@flotilla/shared/kube/objects";
import { settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import {
  config,
  pod,
  pods,
  podThat,
  startTracker,
  thing,
  things,
  thingsDiscovery,
} from "./testing/index.ts";

describe("the objects of a release", () => {
  test("are ready when each object is ready, and are updated with the objects", async (t) => {
    const { rest, tracker, readiness } = startTracker(t);
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
          message: "is not scheduled: no scheduler has taken it yet",
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

  test("are ready without a Job that Kubernetes deletes when it has ended", async (t) => {
    const { tracker, readiness } = startTracker(t);
    const job = { apiVersion: "batch/v1", kind: "Job", name: "once" };

    tracker.track("web", [{ ...job, isDeletedWhenEnded: true }], "apps");

    const { ready, resources } = await readiness("web", () => true);
    assert.equal(ready, true);
    assert.deepEqual(resources, [{ ...job, namespace: "apps", state: "ready" }]);
  });

  test("are ready without a pod that was deleted after it had ended, and not without one that ran", async (t) => {
    const { rest, tracker, readiness } = startTracker(t);
    const ref = { namespace: "apps", name: "pod" };
    rest.put(pods, podThat("Succeeded"));
    tracker.track("web", [pod], "apps");
    await readiness("web", ({ ready }) => ready);

    await rest.delete(pods, ref);
    await settle();
    assert.deepEqual(tracker.readinessOf("web")?.notReady, []);

    // Also after the next revision.
    tracker.track("web", [pod], "apps");
    assert.ok((await readiness("web", () => true)).ready);
    rest.put(pods, podThat("Running"));
    await readiness("web", ({ ready }) => !ready);
    await rest.delete(pods, ref);
    const { counts } = await readiness("web", ({ counts: { missing } }) => missing === 1);
    assert.equal(counts.desiredReady, 1);
  });

  test("that another release has as well are known, no matter which was tracked first", async (t) => {
    const { rest, tracker, readiness, reported } = startTracker(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    tracker.track("web", [config], "apps");
    await readiness("web", () => true);
    assert.deepEqual(tracker.sharedObjectsOf("web"), []);

    const before = reported.length;
    tracker.track("shop", [config], "apps");
    await readiness("shop", () => true);

    const shared = { kind: "ConfigMap", key: "apps/config" };
    assert.deepEqual(tracker.sharedObjectsOf("web"), [{ ...shared, others: ["shop"] }]);
    assert.deepEqual(tracker.sharedObjectsOf("shop"), [{ ...shared, others: ["web"] }]);
    assert.ok(reported.slice(before).includes("web"), "the first one is reported again");

    tracker.track("shop", [config], "apps");
    assert.deepEqual(tracker.sharedObjectsOf("web"), [{ ...shared, others: ["shop"] }]);
    tracker.forget("shop");
    assert.deepEqual(tracker.sharedObjectsOf("web"), []);
  });

  test("are read from the namespace in the manifest", async (t) => {
    const { rest, tracker, readiness } = startTracker(t);
    rest.put(configMaps, { metadata: { namespace: "elsewhere", name: "config" } });

    tracker.track("web", [{ ...config, namespace: "elsewhere" }], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });

  test("have no namespace if their kind is cluster-scoped", async (t) => {
    const { tracker, readiness } = startTracker(t);
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
    const { rest, clock, tracker, readiness } = startTracker(t);
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
    const { rest, tracker, reported, readiness } = startTracker(t);
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
    const { tracker, readiness } = startTracker(t);
    const many = Array.from({ length: 25 }, (_, n) => ({ ...config, name: `c${99 - n}` }));

    tracker.track("web", many, "apps");
    const { notReady, counts } = await readiness("web", () => true);

    assert.equal(counts.missing, 25);
    assert.deepEqual(
      notReady.map(({ name }) => name),
      Array.from({ length: 10 }, (_, n) => `c${75 + n}`),
    );
  });

  test("are ready in spite of ignored conditions", async (t) => {
    const { rest, trackAs, readiness } = startTracker(t);
    const object = {
      ...podThat("Running"),
      status: { phase: "Running", conditions: [{ type: "Ready", status: "False" }] },
    };
    rest.put(pods, object);
    const client = { subject: "the agent", rest, isPerNamespace: false };
    const ignoredConditions = [{ type: "Ready", status: "False" }];

    trackAs("web", [pod], { namespace: "apps", client });
    assert.equal((await readiness("web", () => true)).ready, false);
    trackAs("web", [pod], { namespace: "apps", client, ignoredConditions });

    assert.ok((await readiness("web", ({ ready }) => ready)).ready);
  });

  test("are replaced by the next call of track", async (t) => {
    const { rest, tracker, readiness } = startTracker(t);
    rest.put(configMaps, { metadata: { namespace: "apps", name: "config" } });
    tracker.track("web", [config, pod], "apps");
    await readiness("web", ({ ready }) => !ready);

    tracker.track("web", [config], "apps");

    assert.equal((await readiness("web", ({ ready }) => ready)).counts.desiredReady, 1);
  });

  test("are not watched after forget", async (t) => {
    const { tracker, reported, readiness } = startTracker(t);
    tracker.track("web", [config], "apps");
    await readiness("web", () => true);
    reported.length = 0;

    tracker.forget("web");

    assert.equal(tracker.readinessOf("web"), undefined);
    assert.deepEqual(reported, []);
  });

  test("are ready if there are none", async (t) => {
    const { tracker, readiness } = startTracker(t);

    tracker.track("web", [], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });
});
