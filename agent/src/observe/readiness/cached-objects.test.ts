import assert from "node:assert/strict";
import { settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { pod, pods, podThat, startTracker, statusError } from "./testing/index.ts";

describe("the cached object of a workload", () => {
  test("is ignored if it is older than the object in the API", async (t) => {
    const { rest, tracker, readiness } = startTracker(t);
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
    const { rest, clock, tracker, readiness } = startTracker(t);
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
    const { rest, tracker, readiness } = startTracker(t);
    rest.get = () => Promise.reject(statusError(500, "get pods: 500"));
    rest.put(pods, podThat("Succeeded"));

    tracker.track("web", [pod], "apps");

    assert.ok((await readiness("web", () => true)).ready);
  });
});
