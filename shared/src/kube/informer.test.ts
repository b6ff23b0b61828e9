import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../log/log.ts";
import { connectKube } from "./connect.ts";
import { configMaps } from "./core-resources.ts";
import { createInformer } from "./informer.ts";
import { answersJson, configMap, follow, namesIn, nextDelay } from "./testing/follow-informer.ts";
import { answersStatus, startUnrulyServer, staysSilent } from "./testing/unruly-server.ts";

describe("listing", () => {
  it("has synced when everything is listed and told", async (t) => {
    const { informer, changes } = await follow(t, { objects: ["a", "b"] });

    await informer.synced;

    assert.equal(informer.hasSynced, true);
    assert.deepEqual(namesIn(informer), ["a", "b"]);
    assert.deepEqual(
      changes.map(({ key, listed, before }) => ({ key, listed, before })),
      [
        { key: "default/a", listed: true, before: undefined },
        { key: "default/b", listed: true, before: undefined },
      ],
    );
  });

  it("has its kind in every object, as from a watch", async (t) => {
    const { informer } = await follow(t, { objects: ["a"] });

    await informer.synced;

    assert.equal(informer.store.get("default/a")?.kind, "ConfigMap");
    assert.equal(informer.store.get("default/a")?.apiVersion, "v1");
  });

  it("comes in pages", async (t) => {
    const objects = Array.from({ length: 1100 }, (_, index) => `n${index}`);
    const { informer, server } = await follow(t, { objects });

    await informer.synced;

    assert.equal(informer.store.size, 1100);
    assert.equal(server.requests.filter(({ kind }) => kind === "list").length, 3);
  });

  it("asks for everything in one piece when the server forgets its pages", async (t) => {
    const objects = Array.from({ length: 600 }, (_, index) => `n${index}`);
    const { informer, server } = await follow(t, {
      objects,
      prepare: (prepared) => {
        const items = Array.from({ length: 500 }, (_, index) => configMap(`n${index}`));
        prepared.next(
          "list",
          answersJson({ metadata: { resourceVersion: "1", continue: "token" }, items }),
        );
        prepared.next("list", answersStatus(410, "Expired"));
      },
    });

    await informer.synced;

    assert.equal(informer.store.size, 600);
    const last = server.requests.filter(({ kind }) => kind === "list").at(-1);
    assert.equal(last?.query.has("limit"), false);
    assert.equal(last.query.has("continue"), false);
  });

  it("is tried again after 0.8 s, then twice as long, up to 30 s", async (t) => {
    const failures = 8;
    const { informer, server, clock } = await follow(t, {
      objects: ["a"],
      prepare: (prepared) => {
        for (let count = 0; count < failures; count++)
          prepared.next("list", answersStatus(500, "InternalError"));
      },
    });

    const delays: number[] = [];
    for (let count = 0; count < failures; count++) {
      await server.arrival("list");
      const delayMs = await nextDelay(clock);
      delays.push(delayMs);
      clock.advanceNow(delayMs);
    }
    await informer.synced;

    assert.deepEqual(delays, [800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
  });

  it("waits as long as a busy server asks for", async (t) => {
    const { informer, server, clock } = await follow(t, {
      objects: ["a"],
      prepare: (prepared) =>
        prepared.next("list", answersStatus(429, "TooManyRequests", { "retry-after": "17" })),
    });

    await server.arrival("list");
    assert.equal(await nextDelay(clock), 17_000);
    clock.advanceNow(17_000);

    await informer.synced;
  });
});

describe("what came of a list", () => {
  it("is told each time, with the reason when it failed", async (t) => {
    const { informer, server, clock, listings } = await follow(t, {
      prepare: (prepared) => prepared.next("list", answersStatus(403, "Forbidden")),
    });
    await server.arrival("list");
    clock.advanceNow(await nextDelay(clock));

    await informer.synced;

    await server.opened();
    assert.deepEqual(listings, [
      `list configmaps on ${server.url}: 403 Forbidden: told to say Forbidden`,
      "complete",
    ]);
  });
});

describe("the end", () => {
  it("rejects who waits for a list that never came", async () => {
    const server = await startUnrulyServer();
    server.next("list", staysSilent);
    const rest = connectKube({ server: server.url, credentials: { kind: "none" } });
    const informer = createInformer({ rest, resource: configMaps, log: silentLog() });
    const stop = new AbortController();

    const running = informer.run(stop.signal);
    await server.arrival("list");
    stop.abort();
    await running;

    await assert.rejects(informer.synced, { code: "CANCELLED" });
    await rest.close();
    await server.close();
  });
});
