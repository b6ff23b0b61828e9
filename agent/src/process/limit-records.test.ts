import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { createLimitRecords } from "./limit-records.ts";

const minute = 60_000;

async function setUp(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-limits-"));
  t.onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const clock = createFakeClock(1_000_000);
  /** Of an agent that has just started. */
  const started = async () => {
    const records = createLimitRecords(dir, { clock, log: silentLog() });
    await records.load();
    return records;
  };
  return { dir, clock, started };
}

describe("what exceeded a limit", () => {
  test("is not run again before its retry, also by a restarted agent", async (t) => {
    const { clock, started } = await setUp(t);
    const error = await (await started()).exceeded("chart a", "read the chart a: too large");
    assert.equal(error.retryAtMs, 1_000_000 + minute);

    const restarted = await started();

    assert.throws(() => restarted.check("chart a"), {
      code: "LIMIT_EXCEEDED",
      message: "read the chart a: too large",
      retryAtMs: error.retryAtMs,
    });
    assert.doesNotThrow(() => restarted.check("chart b"));
    await clock.advance(minute);
    assert.doesNotThrow(() => restarted.check("chart a"));
  });

  test("waits twice as long after each failure, up to six hours", async (t) => {
    const { clock, started } = await setUp(t);
    const delays: number[] = [];

    for (let failure = 0; failure < 11; failure += 1) {
      const { retryAtMs } = await (await started()).exceeded("chart a", "too large");
      delays.push((retryAtMs - clock.now()) / minute);
      await clock.advance(retryAtMs - clock.now());
    }

    assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
  });

  test("is forgotten after a success, or after a day", async (t) => {
    const { dir, clock, started } = await setUp(t);
    const records = await started();
    await records.exceeded("chart a", "too large");
    await records.succeeded("chart a");
    assert.deepEqual(await readdir(dir), []);

    await records.exceeded("chart b", "too large");
    await clock.advance(25 * 60 * minute);
    const restarted = await started();

    assert.deepEqual(await readdir(dir), []);
    assert.equal((await restarted.exceeded("chart b", "x")).retryAtMs, clock.now() + minute);
  });

  test("does not keep an agent from starting if its record cannot be read", async (t) => {
    const { dir, started } = await setUp(t);
    await writeFile(join(dir, "x.json"), "{");

    assert.doesNotThrow(async () => (await started()).check("chart a"));
  });
});
