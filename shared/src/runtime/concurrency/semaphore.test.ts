import assert from "node:assert/strict";
import { test } from "vitest";
import { settle } from "../time/testing/index.ts";
import { createSemaphore } from "./semaphore.ts";

test("permits are acquired in the order of the calls, and checking availability acquires none", async () => {
  const semaphore = createSemaphore(1);
  const order: string[] = [];
  const log = (what: string) => () => void order.push(what);
  await semaphore.acquire();
  void semaphore.acquire().then(log("first"));
  void semaphore.available().then(log("available"));
  void semaphore.acquire().then(log("second"));

  semaphore.release();
  await settle();
  assert.deepEqual(order, ["first"]);

  semaphore.release();
  await settle();
  assert.deepEqual(order, ["first", "available", "second"]);
});

test("work runs with a permit, which is released when it ends or fails", async () => {
  const semaphore = createSemaphore(2);
  let running = 0;
  let most = 0;
  async function work(fails: boolean): Promise<void> {
    most = Math.max(most, ++running);
    await settle();
    running -= 1;
    if (fails) throw new Error("no");
  }

  const results = await Promise.allSettled(
    [true, true, true, false, false].map((fails) => semaphore.run(() => work(fails))),
  );

  assert.equal(most, 2);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected", "rejected", "fulfilled", "fulfilled"],
  );
});

test("a resized semaphore gives new permits at once, and takes back those that are released", async () => {
  const semaphore = createSemaphore(1);
  const order: string[] = [];
  const log = (what: string) => () => void order.push(what);
  for (const what of ["first", "second", "third"]) void semaphore.acquire().then(log(what));

  semaphore.resize(2);
  await settle();
  assert.deepEqual(order, ["first", "second"]);

  semaphore.resize(1);
  semaphore.release();
  await settle();
  assert.deepEqual(order, ["first", "second"]);
  semaphore.release();
  await settle();
  assert.deepEqual(order, ["first", "second", "third"]);
});
