import assert from "node:assert/strict";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import type { OwnedObject } from "../../helm/record/manifest.ts";
import { DriftTracker, type DriftTrackerDeps } from "./drift-tracker.ts";
import type { DriftInput } from "./followed-release.ts";

const configMaps: Resource<KubeObject> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};
const owned: OwnedObject = { apiVersion: "v1", kind: "ConfigMap", name: "config" };
const document: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "config" } };
const ref = { namespace: "shop", name: "config" };

/** A server-side apply creates what does not exist; that of the server in memory is a merge patch. */
function withApply(server: MemoryApiServer): KubeRest {
  return {
    ...server,
    patch: async (resource, at, patch, options) => {
      if (server.peek(resource, at) === undefined)
        await server.create<KubeObject>(resource, { ...document, metadata: at });
      return await server.patch(resource, at, patch, options);
    },
  };
}

/** Follows the release `web` of one object, which does not exist at first; runs until the end of the test. */
function startTracker(t: TestContext, options: DriftInput["options"] = { mode: "enabled" }) {
  const server = createMemoryApiServer();
  const clock = createFakeClock();
  const read = { isRead: true };
  const calls = { changed: 0, compared: 0 };
  let objectsRead: (name: string) => void = () => undefined;
  let contentChanged: (name: string, object: OwnedObject) => void = () => undefined;
  const readiness: DriftTrackerDeps["readiness"] = {
    readinessOf: () => (read.isRead ? allReady : undefined),
    objectsOf: () => [{ owned, resource: configMaps, isRemovedByDesign: () => false }],
    onChange(listener) {
      objectsRead = listener;
    },
    onContentChange(listener) {
      contentChanged = listener;
    },
  };
  const tracker = new DriftTracker({ readiness, clock, log: silentLog() });
  tracker.onChange((name) => {
    if (name === "web") calls.changed += 1;
  });
  tracker.onCompared((name) => {
    if (name === "web") calls.compared += 1;
  });
  const ending = new AbortController();
  const running = tracker.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  const input: DriftInput = {
    release: { namespace: "shop", name: "web", revision: 1 },
    manifestDigest: "sha256:a",
    options,
    client: { subject: "the agent", rest: withApply(server) },
    wholeObjects: () => Promise.resolve([document]),
    isCurrent: () => true,
  };
  return {
    server,
    clock,
    tracker,
    input,
    read,
    calls,
    objectsRead: () => objectsRead("web"),
    contentChanged: () => contentChanged("web", owned),
    correct: (request?: string) => tracker.correct("web", ending.signal, request),
    drifted: () => tracker.driftOf("web")?.objects.map(({ what }) => what),
    history: () => tracker.driftOf("web")?.history.map(({ result }) => result),
    end: async () => {
      ending.abort();
      await running;
    },
  };
}

const allReady = {
  ready: true,
  notReady: [],
  resources: [],
  incomplete: false,
  counts: { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 },
};

describe("a release", () => {
  test("is compared when it is followed, and corrected when that is requested of the tracker", async (t) => {
    const { server, tracker, input, calls, correct, drifted, history } = startTracker(t);
    tracker.track("web", input);
    await settle();
    assert.deepEqual([drifted(), calls.changed], [["missing"], 1]);
    assert.equal(tracker.driftOf("web")?.corrects, true);

    await correct();

    assert.deepEqual([drifted(), history(), calls.changed], [[], ["Corrected"], 2]);
    assert.notEqual(server.peek(configMaps, ref), undefined);
  });

  test("is compared only once all its objects were read", async (t) => {
    const { tracker, input, read, contentChanged, objectsRead, drifted } = startTracker(t);
    read.isRead = false;
    tracker.track("web", input);
    contentChanged();
    await settle();
    assert.deepEqual(drifted(), []);

    read.isRead = true;
    objectsRead();
    await settle();
    assert.deepEqual(drifted(), ["missing"]);
  });

  test("is compared again when an object changes", async (t) => {
    const { server, clock, tracker, input, contentChanged, correct, drifted } = startTracker(t);
    tracker.track("web", input);
    await settle();
    await correct();
    await clock.advance(1_000);

    server.remove(configMaps, ref);
    contentChanged();
    await settle();
    assert.deepEqual(drifted(), ["missing"]);
  });

  test("is not followed where its detection is disabled, or after it was forgotten", async (t) => {
    const { tracker, input, drifted, correct } = startTracker(t);
    tracker.track("web", { ...input, options: { mode: "disabled" } });
    assert.equal(drifted(), undefined);
    tracker.track("web", input);
    tracker.forget("web");
    await correct();
    assert.equal(drifted(), undefined);
  });

  test("keeps its history and its back-off over an upgrade, until it is forgotten", async (t) => {
    const { tracker, input, correct, history, drifted } = startTracker(t);
    tracker.track("web", input);
    await settle();
    await correct();

    tracker.suspend("web");
    assert.equal(drifted(), undefined);
    const next = { ...input, release: { ...input.release, revision: 2 } };
    tracker.track("web", next);
    await settle();
    assert.deepEqual([drifted(), history()], [[], ["Corrected"]]);

    tracker.forget("web");
    tracker.track("web", next);
    assert.deepEqual(history(), []);
  });

  test("that is followed with the same options stays as it is", async (t) => {
    const { tracker, input, drifted } = startTracker(t);
    tracker.track("web", input);
    await settle();

    tracker.track("web", { ...input });
    assert.deepEqual(drifted(), ["missing"]);
    tracker.track("web", { ...input, manifestDigest: "sha256:b" });
    assert.deepEqual(drifted(), []);
  });
});

describe("a correction that fails", () => {
  test("is retried when it is due, and the listeners are called then", async (t) => {
    const { server, clock, tracker, input, calls, correct } = startTracker(t);
    tracker.track("web", input);
    await settle();
    server.failNext(new Error("unavailable"));
    await correct();
    const [failure] = tracker.driftOf("web")?.failures ?? [];
    assert.deepEqual([failure?.message, tracker.driftOf("web")?.corrects], ["unavailable", false]);

    const before = calls.changed;
    await clock.advance(5_000);
    assert.deepEqual([calls.changed - before, tracker.driftOf("web")?.corrects], [1, true]);
  });

  test("is not retried after the release is suspended", async (t) => {
    const { server, clock, tracker, input, calls, correct } = startTracker(t);
    tracker.track("web", input);
    await settle();
    server.failNext(new Error("unavailable"));
    await correct();
    tracker.suspend("web");

    const before = calls.changed;
    await clock.advance(60_000);
    assert.equal(calls.changed, before);
  });
});

describe("a comparison for the request of a user", () => {
  test("is done when all objects were compared since, and a correction of all is once", async (t) => {
    const { clock, tracker, input, calls, correct, drifted } = startTracker(t, { mode: "warn" });
    tracker.track("web", input);
    await settle();
    tracker.compareFor("web", "one");
    assert.equal(tracker.comparedFor("web", "one"), undefined);
    await clock.advance(1_000);
    assert.equal(calls.compared, 1);
    assert.equal(tracker.comparedFor("web", "two"), undefined);
    const { isCorrected, corrected } = tracker.comparedFor("web", "one") ?? {};
    assert.deepEqual([isCorrected, corrected], [false, 0]);

    await correct();
    assert.deepEqual(drifted(), ["missing"]);
    await correct("one");
    const done = tracker.comparedFor("web", "one");
    assert.deepEqual([done?.isCorrected, done?.corrected, drifted()], [true, 1, []]);
  });

  test("before all objects were read begins when they were", async (t) => {
    const { tracker, input, read, calls, objectsRead } = startTracker(t);
    read.isRead = false;
    tracker.track("web", input);
    tracker.compareFor("web", "one");
    await settle();
    assert.equal(calls.compared, 0);

    read.isRead = true;
    objectsRead();
    await settle();
    assert.equal(calls.compared, 1);
  });

  test("with the token of an earlier one is not answered by the comparison for that one", async (t) => {
    const { server, clock, tracker, input, calls } = startTracker(t, { mode: "warn" });
    tracker.track("web", input);
    await settle();
    tracker.compareFor("web", "one");
    const { promise, resolve } = Promise.withResolvers<void>();
    server.beforeRead = () => promise;
    await clock.advance(500);

    for (const token of ["two", "one"]) tracker.compareFor("web", token);
    resolve();
    await settle();
    assert.deepEqual([calls.compared, tracker.comparedFor("web", "one")], [0, undefined]);

    await clock.advance(500);
    assert.deepEqual([calls.compared, tracker.comparedFor("web", "one")?.corrected], [1, 0]);
  });

  test("is not reported when the release is not followed any more", async (t) => {
    const { tracker, input, calls, end } = startTracker(t);
    tracker.track("web", input);
    tracker.compareFor("web", "one");
    await end();
    assert.equal(calls.compared, 0);
  });
});
