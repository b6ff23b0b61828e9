import assert from "node:assert/strict";
import type { BundleDeployment, PinCheck } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aDeployment } from "../../testing/index.ts";
import { isFetchFailing, isFetchFailureChange, nextCheckMs, pinCheckAfter } from "./pin-check.ts";

const nowMs = Date.UTC(2026, 0, 1);
const time = new Date(nowMs).toISOString();

function failed(reason: string, observedGeneration = 1): BundleDeployment {
  const condition = { type: "Deployed", status: "False", reason, observedGeneration } as const;
  return aDeployment("paris", { status: { conditions: [condition] } });
}

const failing = failed("ChartNotFetched");

test("an agent cannot fetch a chart while it reports so for its current content", () => {
  assert.equal(isFetchFailing(failing), true);
  assert.equal(isFetchFailing(failed("Error")), false);
  assert.equal(isFetchFailing(failed("ChartNotFetched", 0)), false);
  assert.equal(isFetchFailing(aDeployment("paris")), false);
});

describe("a change of a deployment", () => {
  const cases = [
    ["that starts to fail", aDeployment("paris"), failing, true],
    ["that fails when it is first seen", undefined, failing, true],
    ["that continues to fail", failing, failing, false],
    ["that recovers", failing, aDeployment("paris"), true],
    ["that fails for another reason", failing, failed("Error"), true],
    ["that fails otherwise", aDeployment("paris"), failed("Error"), false],
    ["that is deleted", failing, undefined, true],
  ] as const;
  for (const [what, before, after, isChange] of cases)
    test(`${what} ${isChange ? "enqueues" : "does not enqueue"} its HelmOp`, () => {
      const change = { key: "x/web", ...(before && { before }), ...(after && { after }) };
      assert.equal(isFetchFailureChange(change), isChange);
    });
});

describe("the source of a pin that cannot be fetched is read again", () => {
  const last = (count: number): PinCheck => ({ time, count });
  const cases: readonly (readonly [what: string, last: PinCheck | undefined, ms: number])[] = [
    ["at once the first time", undefined, 0],
    ["after 4 s the second time", last(1), 4_000],
    ["after 8 s the third time", last(2), 8_000],
    ["after at most 5 min", last(100), 300_000],
  ];
  for (const [what, check, ms] of cases)
    test(what, () => assert.equal(nextCheckMs(check, nowMs), ms));

  test("in time although the clock was set back", () => {
    assert.equal(nextCheckMs(last(1), nowMs - 3_600_000), 4_000);
  });

  test("with backoff", () => {
    assert.deepEqual(pinCheckAfter(last(2), nowMs, undefined), { time, count: 3 });
  });
});
