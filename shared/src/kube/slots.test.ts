import assert from "node:assert/strict";
import { test } from "vitest";
import { settle } from "../clock/testing/fake-clock.ts";
import { createSlots } from "./slots.ts";

test("places go to those who wait in the order in which they came, and looking takes none", async () => {
  const slots = createSlots(1);
  const order: string[] = [];
  const log = (what: string) => () => void order.push(what);
  await slots.take();
  void slots.take().then(log("first"));
  void slots.free().then(log("free"));
  void slots.take().then(log("second"));

  slots.release();
  await settle();
  assert.deepEqual(order, ["first"]);

  slots.release();
  await settle();
  assert.deepEqual(order, ["first", "free", "second"]);
});
