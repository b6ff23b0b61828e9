import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createSecretStorage } from "../storage/secret-storage.ts";
import { createLimitRecords, newestRecords } from "./limit-records.ts";

const minute = 60_000;
const ref = { namespace: agentNamespace, name: "limit-records" };

function setUp() {
  const rest = createMemoryApiServer();
  const clock = createFakeClock(1_000_000);
  /** What an agent that has just started says, in any pod. */
  const started = async () => {
    const storage = createSecretStorage(rest);
    const records = createLimitRecords({ secrets: storage, clock, log: silentLog() });
    await records.load();
    return records;
  };
  return { rest, clock, started };
}

describe("what exceeded a limit", () => {
  test("is not run again before its retry, also by an agent in another pod", async () => {
    const { clock, started } = setUp();
    const error = await (await started()).exceeded("chart a", "read the chart a: too large");
    assert.equal(error.retryAtMs, 1_000_000 + minute);

    const next = await started();

    assert.throws(() => next.check("chart a"), {
      code: "LIMIT_EXCEEDED",
      message: "read the chart a: too large",
      retryAtMs: error.retryAtMs,
    });
    assert.doesNotThrow(() => next.check("chart b"));
    await clock.advance(minute);
    assert.doesNotThrow(() => next.check("chart a"));
  });

  test("waits twice as long after each failure, up to six hours", async () => {
    const { clock, started } = setUp();
    const delays: number[] = [];

    for (let failure = 0; failure < 11; failure += 1) {
      const { retryAtMs } = await (await started()).exceeded("chart a", "too large");
      delays.push((retryAtMs - clock.now()) / minute);
      await clock.advance(retryAtMs - clock.now());
    }

    assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
  });

  test("is forgotten after a success, or after a day", async () => {
    const { rest, clock, started } = setUp();
    const records = await started();
    await records.exceeded("chart a", "too large");
    await records.succeeded("chart a");
    assert.equal(await rest.get(secrets, ref), undefined);

    await records.exceeded("chart b", "too large");
    await clock.advance(25 * 60 * minute);

    const { retryAtMs } = await (await started()).exceeded("chart b", "x");
    assert.equal(retryAtMs, clock.now() + minute);
  });

  test("counts also if it cannot be stored", async () => {
    const { rest, started } = setUp();
    const records = await started();
    rest.beforeWrite = () => {
      throw new Error("unavailable");
    };

    await records.exceeded("chart a", "too large");

    assert.throws(() => records.check("chart a"), { code: "LIMIT_EXCEEDED" });
  });

  test("does not keep an agent from starting if it cannot be read", async () => {
    const { rest, started } = setUp();
    await (await started()).exceeded("chart a", "too large");
    const data = { records: Buffer.from("[{").toString("base64") };
    await rest.patch(secrets, ref, { type: "merge", body: { data } });

    const records = await started();

    assert.doesNotThrow(() => records.check("chart a"));
  });

  test("is kept with a short message", async () => {
    const { started } = setUp();

    await (await started()).exceeded("chart a", "x".repeat(10_000));

    const next = await started();
    assert.throws(() => next.check("chart a"), { message: `${"x".repeat(499)}…` });
  });
});

describe("the newest records", () => {
  const record = (key: string) => ({ key, failures: 1, retryAtMs: 0, message: "" });
  const bytes = Buffer.byteLength(JSON.stringify(record("a"))) + 1;
  const all = ["a", "b", "c"].map(record);
  const cases: readonly (readonly [
    what: string,
    limits: { readonly count: number; readonly bytes: number },
    kept: string,
  ])[] = [
    ["all that fit", { count: 3, bytes: 3 * bytes }, "a,b,c"],
    ["no more than their number allows", { count: 2, bytes: 3 * bytes }, "b,c"],
    ["no more than their bytes allow", { count: 3, bytes: 3 * bytes - 1 }, "b,c"],
    ["none that is too large", { count: 3, bytes: bytes - 1 }, ""],
  ];
  for (const [what, limits, kept] of cases)
    test(`are ${what}`, () =>
      assert.equal(
        newestRecords(all, limits)
          .map(({ key }) => key)
          .join(),
        kept,
      ));
});
