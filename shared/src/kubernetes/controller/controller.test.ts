import assert from "node:assert/strict";
import { once } from "node:events";
import { Registry } from "prom-client";
import { describe, it } from "vitest";
import { silentLog } from "../../runtime/log/index.ts";
import { settle } from "../../runtime/time/testing/index.ts";
import { createController } from "./controller.ts";
import { done } from "./reconcile.ts";
import { startController } from "./testing/index.ts";

describe("a controller", () => {
  it("reconciles what is enqueued, also before it runs", async () => {
    const seen: string[] = [];
    const controller = createController({
      name: "test",
      log: silentLog(),
      metrics: new Registry(),
      reconcile: async (key) => {
        seen.push(key);
        return await Promise.resolve(done());
      },
    });
    controller.enqueue("a");
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    controller.enqueue("b");
    await settle();

    assert.deepEqual(seen, ["a", "b"]);
    stop.abort();
    await running;
  });

  it("reconciles as many keys at a time as it has workers, and never one key concurrently", async (t) => {
    let release: (() => void)[] = [];
    const busy: string[] = [];
    const { controller } = startController(
      t,
      async (key) => {
        busy.push(key);
        await new Promise<void>((resolve) => release.push(resolve));
        return done();
      },
      { workers: 2 },
    );

    for (const key of ["a", "b", "c"]) controller.enqueue(key);
    await settle();
    controller.enqueue("a");
    await settle();
    assert.deepEqual(busy, ["a", "b"]);
    while (release.length > 0) {
      const now = release;
      release = [];
      for (const resolve of now) resolve();
      await settle();
    }
    assert.deepEqual(busy, ["a", "b", "c", "a"]);
  });

  it("reconciles other keys while one runs without a worker, and continues it when a worker is free", async (t) => {
    const steps: string[] = [];
    const slow = Promise.withResolvers<void>();
    const other = Promise.withResolvers<void>();
    const { controller } = startController(t, async (key, { withoutWorker }) => {
      steps.push(`${key} begins`);
      if (key === "slow") await withoutWorker(() => slow.promise);
      else if (key === "other") await other.promise;
      steps.push(`${key} ends`);
      return done();
    });

    for (const key of ["slow", "quick", "other"]) controller.enqueue(key);
    await settle();
    controller.enqueue("slow");
    slow.resolve();
    await settle();
    const before = [...steps];
    other.resolve();
    await settle();

    assert.deepEqual(before, ["slow begins", "quick begins", "quick ends", "other begins"]);
    assert.deepEqual(steps.slice(before.length), [
      "other ends",
      "slow ends",
      "slow begins",
      "slow ends",
    ]);
  });

  it("continues after I/O without a worker has failed, and stops after such I/O", async () => {
    const ends: string[] = [];
    const stop = new AbortController();
    const controller = createController({
      name: "test",
      log: silentLog(),
      metrics: new Registry(),
      reconcile: async (key, { withoutWorker, signal }) => {
        if (key === "fails") await withoutWorker(() => Promise.reject(new Error("no")));
        if (key === "waits") await withoutWorker(() => once(signal, "abort"));
        ends.push(key);
        return done();
      },
    });
    const running = controller.run(stop.signal);
    for (const key of ["fails", "waits", "next"]) controller.enqueue(key);
    await settle();
    assert.deepEqual(ends, ["next"]);

    stop.abort();
    await running;

    assert.deepEqual(ends, ["next", "waits"]);
  });
});
