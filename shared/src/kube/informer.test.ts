import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createFakeClock, type FakeClock } from "../clock/testing/fake-clock.ts";
import { silentLog } from "../log/log.ts";
import { connectKube } from "./connect.ts";
import { type ConfigMap, configMaps } from "./core-resources.ts";
import { createInformer, type Informer } from "./informer.ts";
import type { Change } from "./store.ts";
import {
  answersStatus,
  errorLine,
  type Misbehaviour,
  type OpenWatch,
  startUnrulyServer,
  staysSilent,
  type UnrulyServer,
  watchesOnly,
} from "./testing/unruly-server.ts";

const requestTimeoutMs = 10_000;

interface Followed {
  readonly server: UnrulyServer;
  readonly clock: FakeClock;
  readonly informer: Informer<ConfigMap>;
  readonly changes: readonly Change<ConfigMap>[];
  /** What came of each list. */
  readonly listings: readonly string[];
  /** Resolves when this many changes were told. */
  untilChanges(count: number): Promise<void>;
}

interface FollowOptions {
  readonly objects?: readonly string[];
  readonly prepare?: (server: UnrulyServer) => void;
  readonly labelSelector?: string;
}

/** An informer that follows a server of its own; time stands still, and jitter is in the middle. */
async function follow(t: TestContext, options: FollowOptions = {}): Promise<Followed> {
  const server = await startUnrulyServer();
  const clock = createFakeClock();
  const rest = connectKube({ server: server.url, credentials: { kind: "none" } }, { clock });
  const { labelSelector } = options;
  const listings: string[] = [];
  const informer = createInformer({
    rest,
    resource: configMaps,
    namespace: "default",
    log: silentLog(),
    clock,
    random: () => 0.5,
    freeze: true,
    onListed: (failure) => void listings.push(failure?.message ?? "complete"),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  });
  const changes: Change<ConfigMap>[] = [];
  let waiting: { readonly count: number; resolve(): void }[] = [];
  informer.onChange((change) => {
    changes.push(change);
    for (const { count, resolve } of waiting) if (changes.length >= count) resolve();
    waiting = waiting.filter(({ count }) => changes.length < count);
  });
  for (const name of options.objects ?? []) server.put(configMap(name));
  options.prepare?.(server);
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    await rest.close();
    await server.close();
  });
  return {
    server,
    clock,
    informer,
    changes,
    listings,
    untilChanges: (count) =>
      new Promise((resolve) => {
        if (changes.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

function configMap(name: string, data: Readonly<Record<string, string>> = {}): ConfigMap {
  return { metadata: { name, namespace: "default" }, data };
}

function namesIn(informer: Informer<ConfigMap>): readonly string[] {
  return informer.store
    .list()
    .map((object) => object.metadata.name)
    .sort();
}

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

describe("watching", () => {
  it("tells of what is added, changed and deleted, with the state before", async (t) => {
    const { server, informer, changes, untilChanges } = await follow(t);
    await server.opened();

    server.put(configMap("a", { v: "1" }));
    server.put(configMap("a", { v: "2" }));
    server.remove("a");
    await untilChanges(3);

    assert.deepEqual(
      changes.map(({ before, after }) => [before?.data?.["v"], after?.data?.["v"]]),
      [
        [undefined, "1"],
        ["1", "2"],
        ["2", undefined],
      ],
    );
    assert.equal(informer.store.size, 0);
  });

  it("starts from the list, asks for bookmarks and for an end in 5 to 10 minutes", async (t) => {
    const { server } = await follow(t, { objects: ["a"], labelSelector: "x=y" });

    const { request } = await server.opened();

    assert.equal(request.query.get("resourceVersion"), "101");
    assert.equal(request.query.get("allowWatchBookmarks"), "true");
    assert.equal(request.query.get("timeoutSeconds"), "435");
    assert.equal(request.query.get("labelSelector"), "x=y");
    assert.equal(request.path, "/api/v1/namespaces/default/configmaps");
  });

  it("goes on at once from the last event when the server ends a watch", async (t) => {
    const { server, untilChanges } = await follow(t);
    const first = await server.opened();
    const version = server.put(configMap("a"));
    await untilChanges(1);

    first.end();
    const second = await server.opened();

    assert.equal(second.request.query.get("resourceVersion"), version);
    assert.equal(server.requests.filter(({ kind }) => kind === "list").length, 1);
  });

  it("goes on from the last bookmark", async (t) => {
    const { server, clock } = await follow(t);
    const first = await server.opened();
    clock.advanceNow(2_000);

    first.bookmark("777");
    first.end();
    const second = await server.opened();

    assert.equal(second.request.query.get("resourceVersion"), "777");
  });

  it("does not hammer a server that ends every watch at once", async (t) => {
    const { server, clock } = await follow(t, {
      prepare: (prepared) => {
        prepared.next("watch", watchesOnly());
        prepared.next("watch", watchesOnly());
      },
    });

    await server.arrival("watch");
    assert.equal(await nextDelay(clock), 800);
    clock.advanceNow(800);
    await server.arrival("watch");
    assert.equal(await nextDelay(clock), 1600);
  });

  it("lists anew at once when the server has forgotten the version, and tells what was missed", async (t) => {
    const { server, informer, changes, untilChanges } = await follow(t, {
      objects: ["kept", "deleted"],
    });
    const watch = await server.opened();
    const kept = informer.store.get("default/kept");
    const added = {
      ...configMap("added"),
      metadata: { name: "added", namespace: "default", resourceVersion: "400" },
    };

    server.next(
      "list",
      answersJson({ metadata: { resourceVersion: "500" }, items: [kept, added] }),
    );
    watch.line(errorLine(410, "Expired"));
    await untilChanges(4);
    const next = await server.opened();

    assert.deepEqual(
      changes
        .slice(2)
        .map(({ key, before, after }) => [key, before === undefined, after === undefined]),
      [
        ["default/added", true, false],
        ["default/deleted", false, true],
      ],
    );
    assert.deepEqual(namesIn(informer), ["added", "kept"]);
    assert.equal(next.request.query.get("resourceVersion"), "500");
  });

  it("waits before it lists anew a second time in a row", async (t) => {
    const { server, clock } = await follow(t, {
      prepare: (prepared) => {
        prepared.next("watch", answersStatus(410, "Expired"));
        prepared.next("watch", watchesOnly(errorLine(410, "Expired")));
      },
    });

    await server.arrival("list");
    await server.arrival("list");

    assert.equal(await nextDelay(clock), 800);
  });

  for (const { name, fail } of [
    { name: "was cut", fail: (watch: OpenWatch) => watch.cut() },
    {
      name: "had a line that is not JSON",
      fail: (watch: OpenWatch) => watch.line('{"type":"MODIFIED","object":{"meta'),
    },
    {
      name: "had an error in it",
      fail: (watch: OpenWatch) => watch.line(errorLine(500, "InternalError")),
    },
  ]) {
    it(`lists anew after a watch that ${name}: the server may be back with another past`, async (t) => {
      const { server, clock, informer, untilChanges } = await follow(t, { objects: ["a"] });
      const watch = await server.opened();

      server.next(
        "list",
        answersJson({ metadata: { resourceVersion: "7" }, items: [configMap("b")] }),
      );
      fail(watch);
      clock.advanceNow(await nextDelay(clock));
      await untilChanges(3);
      const next = await server.opened();

      assert.deepEqual(namesIn(informer), ["b"]);
      assert.equal(next.request.query.get("resourceVersion"), "7");
    });
  }

  it("lists anew after a server that was shutting down, however soon it is back", async (t) => {
    const { server, clock, informer } = await follow(t, { objects: ["a"] });
    const watch = await server.opened();
    clock.advanceNow(10_000);

    server.next("watch", answersStatus(429, "TooManyRequests", { "retry-after": "5" }));
    server.next(
      "list",
      answersJson({ metadata: { resourceVersion: "7" }, items: [configMap("b")] }),
    );
    watch.end();
    assert.equal(await nextDelay(clock), 5_000);
    clock.advanceNow(5_000);
    const next = await server.opened();

    assert.deepEqual(namesIn(informer), ["b"]);
    assert.equal(next.request.query.get("resourceVersion"), "7");
  });

  it("gives a silent watch up 15 s after the server should have ended it", async (t) => {
    const { server, clock } = await follow(t, {
      prepare: (prepared) => prepared.next("watch", staysSilent),
    });
    await server.arrival("watch");

    assert.equal(await clock.timer(), 450_000);
    clock.advanceNow(450_000);
    clock.advanceNow(await nextDelay(clock));

    await server.arrival("watch");
  });

  it("starts over with short delays after a watch that gave an event", async (t) => {
    const event = JSON.stringify({ type: "ADDED", object: configMap("a") });
    const { server, clock } = await follow(t, {
      prepare: (prepared) => {
        prepared.next("watch", watchesOnly());
        prepared.next("watch", watchesOnly(event, errorLine(500, "InternalError")));
      },
    });

    await server.arrival("watch");
    clock.advanceNow(await nextDelay(clock));
    await server.arrival("watch");

    assert.equal(await nextDelay(clock), 800);
  });

  it("goes on with the other listeners when one throws", async (t) => {
    const { server, informer, untilChanges } = await follow(t);
    const remove = informer.onChange(() => {
      throw new Error("broken listener");
    });
    await server.opened();

    server.put(configMap("a"));
    await untilChanges(1);
    remove();
    server.put(configMap("b"));
    await untilChanges(2);

    assert.deepEqual(namesIn(informer), ["a", "b"]);
  });

  it("keeps neither managedFields nor what kubectl apply noted", async (t) => {
    const { server, informer, untilChanges } = await follow(t);
    await server.opened();

    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", mine: "yes" };
    const metadata = {
      name: "a",
      namespace: "default",
      annotations,
      managedFields: [{ manager: "x" }],
    };
    server.put({ metadata });
    await untilChanges(1);

    const kept = informer.store.get("default/a")?.metadata ?? {};
    assert.equal("managedFields" in kept, false);
    assert.deepEqual(informer.store.get("default/a")?.metadata.annotations, { mine: "yes" });
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

/** How long the informer waits before its next try. The timers of requests that are open are longer. */
function nextDelay(clock: FakeClock): Promise<number> {
  return clock.timer((delayMs) => delayMs !== requestTimeoutMs && delayMs <= 30_000);
}

function answersJson(body: unknown): Misbehaviour {
  return (response) => {
    response.end(JSON.stringify(body));
  };
}
