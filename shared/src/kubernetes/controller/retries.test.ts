import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { AppError, commonErrors } from "../../runtime/errors/index.ts";
import { settle } from "../../runtime/time/testing/index.ts";
import { KubeStatusError } from "../client/index.ts";
import { done, requeueAfter } from "./reconcile.ts";
import { metricValue, startController } from "./testing/index.ts";

describe("a controller", () => {
  it("retries a failed key with backoff until it succeeds", async (t) => {
    let failures = 2;
    let runs = 0;
    const retries: number[] = [];
    const { clock, controller, metrics } = startController(t, async (_key, context) => {
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
    const { clock, controller } = startController(t, async () => {
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
    const { clock, controller } = startController(t, async () => {
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
    const { clock, controller } = startController(t, async () => {
      times.push(clock.monotonic());
      return await Promise.resolve(results.shift() ?? done());
    });

    controller.enqueue("a");
    await clock.advance(60_000);

    assert.deepEqual(times, [0, 1000]);
  });

  it("aborts a reconcile that exceeds its timeout, and retries it", async (t) => {
    const reasons: unknown[] = [];
    const { clock, controller } = startController(
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
});
