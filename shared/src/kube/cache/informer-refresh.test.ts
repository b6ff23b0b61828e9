/** Reading everything anew on demand. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, it } from "vitest";
import { configMap, follow, namesIn, nextDelay } from "../testing/follow-informer.ts";
import { answersStatus, type Misbehaviour } from "../testing/unruly-server.ts";

/** A watch that is open and never tells of anything, as over a connection that died without a word. */
const isOpenAndSilent: Misbehaviour = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
};

const { signal } = new AbortController();

describe("refreshing", () => {
  it("brings what a dead watch has not told of, tells of it, and watches on from there", async (t) => {
    const { server, informer, changes } = await follow(t, {
      objects: ["a", "gone"],
      prepare: (unruly) => unruly.next("watch", isOpenAndSilent),
    });
    await server.arrival("watch");
    server.remove("gone");
    server.put(configMap("new"));
    assert.deepEqual(namesIn(informer), ["a", "gone"]);

    await informer.refresh(signal);

    assert.deepEqual(namesIn(informer), ["a", "new"]);
    assert.deepEqual(
      changes.map(({ key }) => key),
      ["default/a", "default/gone", "default/new", "default/gone"],
    );
    const { request } = await server.opened();
    assert.equal(request.query.get("resourceVersion"), "104");
  });

  it("is served by a list that is begun after it was asked for, and several by one", async (t) => {
    const first = Promise.withResolvers<ServerResponse>();
    const { server, informer } = await follow(t, {
      objects: ["a"],
      prepare: (unruly) => unruly.next("list", first.resolve),
    });
    const response = await first.promise;
    const refreshed = Promise.all([informer.refresh(signal), informer.refresh(signal)]);
    // As of before it was asked for.
    response.end(JSON.stringify({ metadata: { resourceVersion: "100" }, items: [] }));
    await informer.synced;
    assert.deepEqual(namesIn(informer), []);

    await refreshed;

    assert.deepEqual(namesIn(informer), ["a"]);
    assert.equal(server.requests.filter(({ kind }) => kind === "list").length, 2);
  });

  it("waits for a server that cannot list now", async (t) => {
    const { server, informer, clock, listings } = await follow(t, { objects: ["a"] });
    await server.opened();
    server.next("list", answersStatus(503, "ServiceUnavailable"));
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

  it("ends when whoever asked is told to end", async (t) => {
    const { server, informer } = await follow(t, { objects: ["a"] });
    await server.opened();
    server.next("list", () => undefined);
    const ending = new AbortController();

    const refreshed = informer.refresh(ending.signal);
    ending.abort();

    await refreshed;
    await informer.refresh(ending.signal);
  });
});
