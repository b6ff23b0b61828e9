import assert from "node:assert/strict";
import { test } from "vitest";
import { Confirmation } from "./confirmation.ts";

test("a Lease is confirmed until its watch fails", async () => {
  const confirmation = new Confirmation();

  await confirmation.wait();

  assert.equal(confirmation.isConfirmed, true);
});

for (const [what, order, expected] of [
  ["a renewal after the failure confirms it", ["fail", "start", "succeed"], true],
  ["a renewal that was in progress does not", ["start", "fail", "succeed"], false],
  ["a failure during the next renewal counts", ["fail", "start", "fail", "succeed"], false],
  ["the next renewal confirms it", ["start", "fail", "succeed", "start", "succeed"], true],
  ["a renewal that has not succeeded does not", ["fail", "start"], false],
] as const)
  test(what, () => {
    const confirmation = new Confirmation();
    let succeed = (): void => undefined;
    for (const event of order) {
      if (event === "fail") confirmation.invalidate();
      else if (event === "start") succeed = confirmation.startRenewal();
      else succeed();
    }

    assert.equal(confirmation.isConfirmed, expected);
  });

test("who waits continues with the confirmation, and without one when nobody is to wait any more", async () => {
  const confirmation = new Confirmation();
  confirmation.invalidate();
  const first = confirmation.wait();
  confirmation.startRenewal()();
  await first;
  assert.equal(confirmation.isConfirmed, true);

  confirmation.invalidate();
  const second = confirmation.wait();
  confirmation.stopWaiting();
  await second;
  assert.equal(confirmation.isConfirmed, false);
});
