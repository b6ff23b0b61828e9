import assert from "node:assert/strict";
import { pino } from "pino";
import { Registry } from "prom-client";
import { describe, it } from "vitest";
import type { AppError } from "../../runtime/errors/index.ts";
import { silentLog } from "../../runtime/log/index.ts";
import { createFakeClock, settle } from "../../runtime/time/testing/index.ts";
import { KubeStatusError } from "../client/index.ts";
import { createController } from "./controller.ts";
import { done, type Reconcile } from "./reconcile.ts";
import { metricValue } from "./testing/index.ts";

describe("a controller", () => {
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
