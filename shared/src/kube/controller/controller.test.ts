import assert from "node:assert/strict";
import { once } from "node:events";
import { pino } from "pino";
import { Registry } from "prom-client";
import { describe, it, type TestContext } from "vitest";
import { AppError, commonErrors } from "../../errors/index.ts";
import { silentLog } from "../../log/index.ts";
import { createFakeClock, settle } from "../../time/testing/index.ts";
import { KubeStatusError } from "../client/index.ts";
import { createController } from "./controller.ts";
import { done, type Reconcile, requeueAfter } from "./reconcile.ts";

function start(
  t: TestContext,
  reconcile: Reconcile,
  options: { readonly workers?: number; readonly timeoutMs?: number } = {},
) {
  const clock = createFakeClock();
  const metrics = new Registry();
  const stop = new AbortController();
  const controller = createController({
    name: "test",
    reconcile,
    log: silentLog(),
    metrics,
    clock,
    ...options,
  });
  const running = controller.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  t.onTestFinished(end);
  return { clock, metrics, controller, end };
}

async function metricValue(
  registry: Registry,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const metric = await registry.getSingleMetric(name)?.get();
  const matches = (own: Readonly<Record<string, unknown>>): boolean =>
    Object.entries(labels).every(([label, value]) => own[label] === value);
  return metric?.values.find((value) => matches(value.labels))?.value;
}

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
    const { controller } = start(
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
    const { controller } = start(t, async (key, { withoutWorker }) => {
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

  it("retries a failed key with backoff until it succeeds", async (t) => {
    let failures = 2;
    let runs = 0;
    const retries: number[] = [];
    const { clock, controller, metrics } = start(t, async (_key, context) => {
      runs++;
      retries.push(context.retries);
      if (failures-- > 0) throw new Error("not yet");
      return await Promise.resolve(done());
    });

    controller.enqueue("a");
    await settle();
    assert.equal(runs, 1);
    await clock.advance(5);
    assert.equal(runs, 2);
    await clock.advance(9);
    assert.equal(runs, 2);
    await clock.advance(1);
    assert.equal(runs, 3);
    await clock.advance(600_000);
    assert.equal(runs, 3);
    assert.deepEqual(retries, [0, 1, 2]);
    controller.enqueue("a");
    await settle();
    assert.equal(retries.at(-1), 0, "a success resets the failures");
    assert.equal(
      await metricValue(metrics, "controller_runtime_reconcile_total", {
        controller: "test",
        result: "error",
      }),
      2,
    );
    assert.equal(
      await metricValue(metrics, "controller_runtime_reconcile_total", {
        controller: "test",
        result: "success",
      }),
      2,
    );
    assert.equal(await metricValue(metrics, "workqueue_retries_total", { name: "test" }), 2);
  });

  it("waits for the Retry-After of a busy server", async (t) => {
    const times: number[] = [];
    const { clock, controller } = start(t, async () => {
      times.push(clock.monotonic());
      await Promise.resolve();
      throw new KubeStatusError("busy", {
        status: 429,
        reason: "TooManyRequests",
        retryAfterMs: 3000,
      });
    });

    controller.enqueue("a");
    await clock.advance(6000);

    assert.deepEqual(times, [0, 3000, 6000]);
  });

  it("does not retry a terminal error", async (t) => {
    let runs = 0;
    const { clock, controller } = start(t, async () => {
      runs++;
      await Promise.resolve();
      throw new AppError(commonErrors.CONFIG_INVALID, "never");
    });

    controller.enqueue("a");
    await clock.advance(600_000);
    assert.equal(runs, 1);
    controller.enqueue("a");
    await settle();
    assert.equal(runs, 2);
  });

  it("requeues after the delay of the result, and resets the failures", async (t) => {
    const results = [requeueAfter(1000, "waiting"), done()];
    const times: number[] = [];
    const { clock, controller } = start(t, async () => {
      times.push(clock.monotonic());
      return await Promise.resolve(results.shift() ?? done());
    });

    controller.enqueue("a");
    await clock.advance(60_000);

    assert.deepEqual(times, [0, 1000]);
  });

  it("aborts a reconcile that exceeds its timeout, and retries it", async (t) => {
    const reasons: unknown[] = [];
    const { clock, controller } = start(
      t,
      (_key, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(new Error("aborted"));
          });
        }),
      { timeoutMs: 2000 },
    );

    controller.enqueue("a");
    await clock.advance(2000);
    await clock.advance(2005);

    assert.equal(reasons.length, 2);
    assert.equal(AppError.from(reasons[0]).message, "reconcile a: not finished within 2 s");
  });

  it("stops by aborting running reconciles, waits for them, and drops what is queued", async (t) => {
    const events: string[] = [];
    const { controller, end } = start(t, async (key, { signal }) => {
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

  it("logs the current fields of a key, and its own name once", async (t) => {
    const lines: string[] = [];
    const controller = createController({
      name: "test",
      reconcile: () => Promise.reject(new Error("no")),
      log: pino({ base: null }, { write: (line) => void lines.push(line) }),
      logFields: (key) => (key === "a" ? { userID: "user-abc" } : {}),
      metrics: new Registry(),
      clock: createFakeClock(),
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    t.onTestFinished(async () => {
      stop.abort();
      await running;
    });
    controller.enqueue("a");
    controller.enqueue("b");
    await settle();

    const named = lines.map((line) => {
      const { key, userID } = JSON.parse(line);
      return [key, userID];
    });
    assert.deepEqual(named, [
      ["a", "user-abc"],
      ["b", undefined],
    ]);
    for (const line of lines) assert.equal(line.split('"controller":"test"').length, 2, line);
  });

  it("logs a failure as a warning, unless its cause is most likely a stale cache", async (t) => {
    const lines: { readonly level: string; readonly key: string }[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line));
    const clock = createFakeClock();
    const errors: Readonly<Record<string, AppError>> = {
      conflict: new KubeStatusError("no", { status: 409, reason: "Conflict" }),
      deleted: new KubeStatusError("no", { status: 404, reason: "NotFound" }),
      terminating: new KubeStatusError("no", {
        status: 403,
        reason: "Forbidden",
        causes: ["NamespaceTerminating"],
      }),
      forbidden: new KubeStatusError("no", { status: 403, reason: "Forbidden" }),
    };
    const controller = createController({
      name: "test",
      reconcile: (key) => Promise.reject(errors[key] ?? new Error("no")),
      log: pino(
        { base: null, level: "debug", formatters: { level: (level) => ({ level }) } },
        { write },
      ),
      metrics: new Registry(),
      clock,
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    t.onTestFinished(async () => {
      stop.abort();
      await running;
    });
    for (const key of Object.keys(errors)) controller.enqueue(key);
    await settle();
    const levels = lines.map(({ key, level }) => `${key}: ${level}`);
    await clock.advance(1_000);

    assert.deepEqual(levels, [
      "conflict: debug",
      "deleted: debug",
      "terminating: debug",
      "forbidden: warn",
    ]);
    const deleted = lines.filter(({ key }) => key === "deleted").map(({ level }) => level);
    assert.deepEqual(deleted.slice(4, 7), ["debug", "warn", "warn"]);
  });

  it("has all its metrics from the start, and shares a registry with other controllers", async () => {
    const metrics = new Registry();
    const reconcile: Reconcile = async () => await Promise.resolve(done());
    createController({ name: "one", reconcile, log: silentLog(), metrics });
    createController({ name: "two", reconcile, log: silentLog(), metrics });

    for (const name of ["one", "two"]) {
      for (const result of ["success", "error", "requeue", "requeue_after"]) {
        assert.equal(
          await metricValue(metrics, "controller_runtime_reconcile_total", {
            controller: name,
            result,
          }),
          0,
        );
      }
      for (const metric of ["workqueue_depth", "workqueue_adds_total", "workqueue_retries_total"]) {
        assert.equal(await metricValue(metrics, metric, { name }), 0);
      }
    }
    const text = await metrics.metrics();
    for (const name of [
      "controller_runtime_reconcile_time_seconds",
      "workqueue_queue_duration_seconds",
      "workqueue_work_duration_seconds",
    ]) {
      assert.match(text, new RegExp(`^${name}_count\\{.*\\} 0$`, "m"));
    }
  });
});
