import assert from "node:assert/strict";
import { once } from "node:events";
import { Registry } from "prom-client";
import { describe, it } from "vitest";
import { silentLog } from "../../runtime/log/index.ts";
import { createFakeClock, settle } from "../../runtime/time/testing/index.ts";
import { createController } from "./controller.ts";
import { done } from "./reconcile.ts";
import { startController } from "./testing/index.ts";

describe("a controller", () => {
  it("stops by aborting running reconciles, waits for them, and drops what is queued", async (t) => {
    const events: string[] = [];
    const { controller, end } = startController(t, async (key, { signal }) => {
      events.push(`start ${key}`);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await settle();
      events.push(`end ${key}`);
      return done();
    });
    controller.enqueue("a");
    controller.enqueue("b");
    await settle();

    await end();

    assert.deepEqual(events, ["start a", "end a"]);
  });

  it("lets running reconciles go on until a second signal, and starts no other", async () => {
    const events: string[] = [];
    const go = Promise.withResolvers<void>();
    const controller = createController({
      name: "test",
      workers: 2,
      reconcile: async (key, { signal }) => {
        events.push(`start ${key}`);
        if (key === "finishes") await go.promise;
        else await once(signal, "abort");
        events.push(`end ${key}, ${signal.aborted ? "aborted" : "by itself"}`);
        return done();
      },
      log: silentLog(),
      metrics: new Registry(),
      clock: createFakeClock(),
    });
    const stop = new AbortController();
    const abort = new AbortController();
    const running = controller.run(stop.signal, abort.signal);
    for (const key of ["finishes", "hangs", "queued"]) controller.enqueue(key);
    await settle();

    stop.abort();
    go.resolve();
    await settle();
    assert.deepEqual(events, ["start finishes", "start hangs", "end finishes, by itself"]);
    abort.abort();
    await running;

    assert.equal(events.at(-1), "end hangs, aborted");
  });
});
