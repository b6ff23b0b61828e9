import assert from "node:assert/strict";
import { test } from "vitest";
import { settle } from "../time/testing/fake-clock.ts";
import { createSemaphore } from "./semaphore.ts";

test("places go to those who wait in the order in which they came, and looking takes none", async () => {
  const slots = createSemaphore(1);
  const order: string[] = [];
  const log = (what: string) => () => void order.push(what);
  await slots.acquire();
  void slots.acquire().then(log("first"));
  void slots.available().then(log("free"));
  void slots.acquire().then(log("second"));

  slots.release();
  await settle();
  assert.deepEqual(order, ["first"]);

  slots.release();
  await settle();
  assert.deepEqual(order, ["first", "free", "second"]);
});
