import assert from "node:assert/strict";
import { configMaps } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import {
  config,
  pod,
  pods,
  podThat,
  startTracker,
  statusError,
  thing,
  things,
  thingsDiscovery,
} from "./testing/index.ts";

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
      const { rest, clock, tracker, readiness } = startTracker(t);
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
      const { rest, clock, tracker, readiness } = startTracker(t);
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
    const { rest, clock, tracker, reported, readiness } = startTracker(t);
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
    const { tracker, readiness } = startTracker(t);
    tracker.onChange((name) => {
      if (name === "web") throw new Error("failure");
    });

    tracker.track("web", [], "apps");
    tracker.track("shop", [], "apps");

    await readiness("shop", ({ ready }) => ready);
  });
});
