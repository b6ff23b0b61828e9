import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { lineLog } from "../../runtime/log/index.ts";
import { configMaps } from "../objects/index.ts";
import {
  answersJson,
  configMap,
  cutConnection,
  errorLine,
  follow,
  namesIn,
  nextDelay,
  type OpenWatch,
  respondStatus,
  stall,
  watchLines,
} from "../testing/index.ts";

describe("watching", () => {
  it("delivers additions, changes and deletions, with the state before", async (t) => {
    const { server, informer, changes, untilChanges } = await follow(t);
    await server.opened();

    server.put(configMaps, configMap("a", { v: "1" }));
    server.put(configMaps, configMap("a", { v: "2" }));
    server.remove(configMaps, { namespace: "default", name: "a" });
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

  it("starts from the list, requests bookmarks and a timeout of 5 to 10 minutes", async (t) => {
    const { server } = await follow(t, { objects: ["a"], labelSelector: "x=y" });

    const { request } = await server.opened();

    assert.equal(request.query.get("resourceVersion"), "101");
    assert.equal(request.query.get("allowWatchBookmarks"), "true");
    assert.equal(request.query.get("timeoutSeconds"), "435");
    assert.equal(request.query.get("labelSelector"), "x=y");
    assert.equal(request.path, "/api/v1/namespaces/default/configmaps");
  });

  it("continues at once from the last event when the server ends a watch", async (t) => {
    const { server, untilChanges } = await follow(t);
    const first = await server.opened();
    const version = server.put(configMaps, configMap("a"));
    await untilChanges(1);

    first.end();
    const second = await server.opened();

    assert.equal(second.request.query.get("resourceVersion"), version);
    assert.equal(server.requests.filter(({ kind }) => kind === "list").length, 1);
  });

  it("continues from the last bookmark", async (t) => {
    const { server, clock } = await follow(t);
    const first = await server.opened();
    clock.advanceNow(2_000);

    first.bookmark("777");
    first.end();
    const second = await server.opened();

    assert.equal(second.request.query.get("resourceVersion"), "777");
  });

  it("backs off from a server that ends every watch at once", async (t) => {
    const { server, clock } = await follow(t, {
      prepare: (prepared) => {
        prepared.next("watch", watchLines());
        prepared.next("watch", watchLines());
      },
    });

    await server.arrival("watch");
    assert.equal(await nextDelay(clock), 800);
    clock.advanceNow(800);
    await server.arrival("watch");
    assert.equal(await nextDelay(clock), 1600);
  });

  it("lists again at once when the resourceVersion has expired, and delivers what was missed", async (t) => {
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

  it("backs off before it lists a second time in a row", async (t) => {
    const { server, clock } = await follow(t, {
      prepare: (prepared) => {
        prepared.next("watch", respondStatus(410, "Expired"));
        prepared.next("watch", watchLines(errorLine(410, "Expired")));
      },
    });

    await server.arrival("list");
    await server.arrival("list");

    assert.equal(await nextDelay(clock), 800);
  });

  it("warns of a server that asks to come later only after several times", async (t) => {
    const lines: string[] = [];
    const { server, clock } = await follow(t, {
      log: lineLog({ name: "test", level: "warn", write: (line) => void lines.push(line) }),
      prepare: (prepared) => {
        for (let times = 0; times < 4; times += 1)
          prepared.next("watch", respondStatus(429, "TooManyRequests"));
      },
    });
    const warned: number[] = [];
    for (let times = 0; times < 4; times += 1) {
      await server.arrival("watch");
      const waitMs = await nextDelay(clock);
      warned.push(lines.length);
      await clock.advance(waitMs);
    }

    await server.opened();
    assert.deepEqual(warned, [0, 0, 0, 1]);
  });

  for (const { name, fail } of [
    { name: "was truncated", fail: (watch: OpenWatch) => watch.cut() },
    {
      name: "had a line that is not JSON",
      fail: (watch: OpenWatch) => watch.line('{"type":"MODIFIED","object":{"meta'),
    },
    {
      name: "contained an error",
      fail: (watch: OpenWatch) => watch.line(errorLine(500, "InternalError")),
    },
  ]) {
    it(`lists again after a watch that ${name}, because the server may have another history`, async (t) => {
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

  it("lists again after a shutdown of the server, also when it restarts at once", async (t) => {
    const { server, clock, informer } = await follow(t, { objects: ["a"] });
    const watch = await server.opened();
    clock.advanceNow(10_000);

    server.next("watch", respondStatus(429, "TooManyRequests", { "retry-after": "5" }));
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

  it("ends its backoff after truncated watches when the server responds to any request", async (t) => {
    const { server, rest, clock } = await follow(t, {
      prepare: (prepared) => {
        prepared.next("watch", cutConnection);
        prepared.next("watch", cutConnection);
      },
    });
    await server.arrival("watch");
    clock.advanceNow(await nextDelay(clock));
    await server.arrival("watch");
    // The first half of 1.6 s.
    assert.equal(await nextDelay(clock), 800);

    await rest.get(configMaps, { namespace: "default", name: "any" });
    clock.advanceNow(800);

    await server.opened();
  });

  it("ends a half-open watch 15 s after the server should have ended it", async (t) => {
    const { server, clock } = await follow(t, {
      prepare: (prepared) => prepared.next("watch", stall),
    });
    await server.arrival("watch");

    assert.equal(await clock.timer(), 450_000);
    clock.advanceNow(450_000);
    clock.advanceNow(await nextDelay(clock));

    await server.arrival("watch");
  });

  it("resets its backoff after a watch that delivered an event", async (t) => {
    const event = JSON.stringify({ type: "ADDED", object: configMap("a") });
    const { server, clock } = await follow(t, {
      prepare: (prepared) => {
        prepared.next("watch", watchLines());
        prepared.next("watch", watchLines(event, errorLine(500, "InternalError")));
      },
    });

    await server.arrival("watch");
    clock.advanceNow(await nextDelay(clock));
    await server.arrival("watch");

    assert.equal(await nextDelay(clock), 800);
  });

  it("calls the other listeners when one throws", async (t) => {
    const { server, informer, untilChanges } = await follow(t);
    const remove = informer.onChange(() => {
      throw new Error("broken listener");
    });
    await server.opened();

    server.put(configMaps, configMap("a"));
    await untilChanges(1);
    remove();
    server.put(configMaps, configMap("b"));
    await untilChanges(2);

    assert.deepEqual(namesIn(informer), ["a", "b"]);
  });

  it("keeps neither managedFields nor the last-applied annotation", async (t) => {
    const { server, informer, untilChanges } = await follow(t);
    await server.opened();

    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", mine: "yes" };
    const metadata = {
      name: "a",
      namespace: "default",
      annotations,
      managedFields: [{ manager: "x" }],
    };
    server.put(configMaps, { metadata });
    await untilChanges(1);

    const kept = informer.store.get("default/a")?.metadata ?? {};
    assert.equal("managedFields" in kept, false);
    assert.deepEqual(informer.store.get("default/a")?.metadata.annotations, { mine: "yes" });
  });
});
