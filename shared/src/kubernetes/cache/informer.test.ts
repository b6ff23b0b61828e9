import assert from "node:assert/strict";
import { describe, it, type TestContext } from "vitest";
import { silentLog } from "../../runtime/log/index.ts";
import { connectKube } from "../client/index.ts";
import { configMaps } from "../objects/index.ts";
import {
  answersJson,
  configMap,
  cutConnection,
  errorLine,
  follow,
  namesIn,
  nextDelay,
  respondStatus,
  stall,
  startHttpApiServer,
} from "../testing/index.ts";
import { createInformer } from "./informer.ts";

describe("listing", () => {
  it("has synced after everything was listed and the listeners were called", async (t) => {
    const { informer, changes } = await follow(t, { objects: ["a", "b"] });

    await informer.synced;

    assert.equal(informer.hasSynced, true);
    assert.deepEqual(namesIn(informer), ["a", "b"]);
    assert.deepEqual(
      changes.map(({ key, isInInitialList, before }) => ({ key, isInInitialList, before })),
      [
        { key: "default/a", isInInitialList: true, before: undefined },
        { key: "default/b", isInInitialList: true, before: undefined },
      ],
    );
  });

  it("sets the kind of every object, as a watch does", async (t) => {
    const { informer } = await follow(t, { objects: ["a"] });

    await informer.synced;

    assert.equal(informer.store.get("default/a")?.kind, "ConfigMap");
    assert.equal(informer.store.get("default/a")?.apiVersion, "v1");
  });

  it("delivers our own write that a list does not have, and its end, but not a later one", async (t) => {
    const { informer, server, changes, untilChanges } = await follow(t, { objects: [] });
    await informer.synced;
    const watch = await server.opened();
    const putWrite = (name: string, resourceVersion: string): void => {
      const { metadata } = configMap(name);
      informer.store.wrote({ metadata: { ...metadata, resourceVersion } });
    };

    putWrite("skipped", "450");
    server.next("list", (response, request) => {
      putWrite("later", "550");
      answersJson({ metadata: { resourceVersion: "500" }, items: [] })(response, request);
    });
    watch.line(errorLine(410, "Expired"));
    await untilChanges(2);
    await server.opened();

    assert.deepEqual(
      changes.map(({ key, before, after }) => [key, before?.metadata.name, after?.metadata.name]),
      [
        ["default/skipped", undefined, "skipped"],
        ["default/skipped", "skipped", undefined],
      ],
    );
    assert.deepEqual(namesIn(informer), ["later"]);
  });

  it("is paged", async (t) => {
    const objects = Array.from({ length: 1100 }, (_, index) => `n${index}`);
    const { informer, server } = await follow(t, { objects });

    await informer.synced;

    assert.equal(informer.store.size, 1100);
    assert.equal(server.requests.filter(({ kind }) => kind === "list").length, 3);
  });

  it("lists without pages when the continue token has expired", async (t) => {
    const objects = Array.from({ length: 600 }, (_, index) => `n${index}`);
    const { informer, server } = await follow(t, {
      objects,
      prepare: (prepared) => {
        const items = Array.from({ length: 500 }, (_, index) => configMap(`n${index}`));
        prepared.next(
          "list",
          answersJson({ metadata: { resourceVersion: "1", continue: "token" }, items }),
        );
        prepared.next("list", respondStatus(410, "Expired"));
      },
    });

    await informer.synced;

    assert.equal(informer.store.size, 600);
    const last = server.requests.filter(({ kind }) => kind === "list").at(-1);
    assert.equal(last?.query.has("limit"), false);
    assert.equal(last.query.has("continue"), false);
  });

  it("is retried after 0.8 s, then twice as long, up to 30 s", async (t) => {
    const failures = 8;
    const { informer, server, clock } = await follow(t, {
      objects: ["a"],
      prepare: (prepared) => {
        for (let count = 0; count < failures; count++)
          prepared.next("list", respondStatus(500, "InternalError"));
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

  /** An informer whose list has failed three times, and that waits for 3.2 s. */
  async function followUnreachable(t: TestContext) {
    const followed = await follow(t, {
      objects: ["a"],
      prepare: (server) => {
        // A request whose connection is cut is sent once more before it fails.
        for (let count = 0; count < 6; count++) server.next("list", cutConnection);
      },
    });
    const { clock } = followed;
    const delays: number[] = [];
    for (let count = 0; count < 3; count++) {
      const delayMs = await nextDelay(clock);
      delays.push(delayMs);
      clock.advanceNow(delayMs);
    }
    assert.deepEqual(delays, [800, 800, 800]);
    assert.equal(await nextDelay(clock), 800);
    return followed;
  }

  it("ends its backoff from an unreachable server when it responds to any request, and resets it", async (t) => {
    const { rest, server, clock, informer } = await followUnreachable(t);
    server.next("list", cutConnection);
    server.next("list", cutConnection);

    await rest.get(configMaps, { namespace: "default", name: "any" });
    clock.advanceNow(800);
    await clock.timer((delayMs) => delayMs === 800);
    clock.advanceNow(800);

    await informer.synced;
  });

  it("also ends its backoff when the server opens a watch", async (t) => {
    const { rest, server, clock, informer } = await followUnreachable(t);
    const watch = { namespace: "default", resourceVersion: "1", timeoutSeconds: 300 };

    const other = rest.watch(configMaps, watch)[Symbol.asyncIterator]();
    void other.next();
    await server.opened();
    clock.advanceNow(800);

    await informer.synced;
    await other.return?.();
  });

  it("does not end its backoff for a server that accepts requests and does not respond", async (t) => {
    const { rest, server, clock } = await follow(t, {
      prepare: (prepared) => {
        for (let count = 0; count < 2; count++) prepared.next("list", stall);
      },
    });
    await server.arrival("list");
    clock.advanceNow(10_000);
    clock.advanceNow(await nextDelay(clock));
    await server.arrival("list");
    clock.advanceNow(10_000);
    await rest.get(configMaps, { namespace: "default", name: "any" });

    assert.equal(await nextDelay(clock), 1600);
  });

  for (const [code, reason] of [
    [503, "ServiceUnavailable"],
    [429, "TooManyRequests"],
  ] as const) {
    it(`does not end its backoff when the server responds with ${code}`, async (t) => {
      const { rest, server, clock, informer } = await followUnreachable(t);
      const lists = (): number => server.requests.filter(({ kind }) => kind === "list").length;
      const ask = async (): Promise<void> => {
        server.next("get", respondStatus(code, reason));
        await assert.rejects(
          rest.get(configMaps, { namespace: "default", name: "any" }),
          /injected fault/,
        );
      };
      const before = lists();

      await ask();
      clock.advanceNow(800);
      assert.equal(await nextDelay(clock), 2400);
      // In this time a list would have arrived.
      for (let times = 0; times < 3; times++) await ask();
      assert.equal(lists(), before);
      clock.advanceNow(2400);

      await informer.synced;
    });
  }

  it("waits for the Retry-After of a busy server", async (t) => {
    const { informer, server, clock } = await follow(t, {
      objects: ["a"],
      prepare: (prepared) =>
        prepared.next("list", respondStatus(429, "TooManyRequests", { "retry-after": "17" })),
    });

    await server.arrival("list");
    assert.equal(await nextDelay(clock), 17_000);
    clock.advanceNow(17_000);

    await informer.synced;
  });
});

describe("the result of a list", () => {
  it("is reported each time, with the error when it failed", async (t) => {
    const { informer, server, clock, listings } = await follow(t, {
      prepare: (prepared) => prepared.next("list", respondStatus(403, "Forbidden")),
    });
    await server.arrival("list");
    clock.advanceNow(await nextDelay(clock));

    await informer.synced;

    await server.opened();
    assert.deepEqual(listings, [
      `list configmaps on ${server.url}: 403 Forbidden: injected fault Forbidden`,
      "complete",
    ]);
  });
});

describe("stopping", () => {
  it("an informer rejects callers that wait for its first list", async () => {
    const server = await startHttpApiServer();
    server.next("list", stall);
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
