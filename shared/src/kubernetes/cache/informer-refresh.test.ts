import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, it } from "vitest";
import { configMaps } from "../objects/index.ts";
import {
  configMap,
  follow,
  namesIn,
  nextDelay,
  openAndStall,
  respondStatus,
  stall,
} from "../testing/index.ts";

const { signal } = new AbortController();

describe("refreshing", () => {
  it("lists what a half-open watch has missed, calls the listeners, and watches from there", async (t) => {
    const { server, informer, changes } = await follow(t, {
      objects: ["a", "deleted"],
      prepare: (server) => server.next("watch", openAndStall),
    });
    await server.arrival("watch");
    server.remove(configMaps, { namespace: "default", name: "deleted" });
    server.put(configMaps, configMap("new"));
    assert.deepEqual(namesIn(informer), ["a", "deleted"]);

    await informer.refresh(signal);

    assert.deepEqual(namesIn(informer), ["a", "new"]);
    assert.deepEqual(
      changes.map(({ key }) => key),
      ["default/a", "default/deleted", "default/new", "default/deleted"],
    );
    const { request } = await server.opened();
    assert.equal(request.query.get("resourceVersion"), "104");
  });

  it("waits for a list that starts after the call, one list for several calls", async (t) => {
    const first = Promise.withResolvers<ServerResponse>();
    const { server, informer } = await follow(t, {
      objects: ["a"],
      prepare: (server) => server.next("list", first.resolve),
    });
    const response = await first.promise;
    const refreshed = Promise.all([informer.refresh(signal), informer.refresh(signal)]);
    // This list started before the calls.
    response.end(JSON.stringify({ metadata: { resourceVersion: "100" }, items: [] }));
    await informer.synced;
    assert.deepEqual(namesIn(informer), []);

    await refreshed;

    assert.deepEqual(namesIn(informer), ["a"]);
    assert.equal(server.requests.filter(({ kind }) => kind === "list").length, 2);
  });

  it("waits until a list succeeds", async (t) => {
    const { server, informer, clock, listings } = await follow(t, { objects: ["a"] });
    await server.opened();
    server.next("list", respondStatus(503, "ServiceUnavailable"));
    let isDone = false;
    const refreshed = informer.refresh(signal).then(() => {
      isDone = true;
    });

    const waitMs = await nextDelay(clock);
    assert.equal(isDone, false);
    await clock.advance(waitMs);
    await refreshed;

    assert.equal(listings.length, 3);
    assert.match(listings[1] ?? "", /503|ServiceUnavailable/);
  });

  it("ends without a list when the signal of the caller aborts", async (t) => {
    const { server, informer, listings } = await follow(t, { objects: ["a"] });
    await server.opened();
    server.next("list", stall);
    const stop = new AbortController();
    let isDone = false;

    const refreshed = informer.refresh(stop.signal).then(() => {
      isDone = true;
    });
    await server.arrival("list");
    await server.arrival("list");
    assert.equal(isDone, false, "the list stalls");
    stop.abort();

    await refreshed;
    await informer.refresh(stop.signal);
    assert.deepEqual(listings, ["complete"], "no further list was complete");
    assert.equal(server.requests.filter(({ kind }) => kind === "list").length, 2);
  });
});
