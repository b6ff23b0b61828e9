import assert from "node:assert/strict";
import { setImmediate as nextTick } from "node:timers/promises";
import { test } from "vitest";
import { waitForAll } from "./wait.ts";

test("waitForAll resolves to all results", async () => {
  assert.deepEqual(await waitForAll([Promise.resolve(1), Promise.resolve("two")]), [1, "two"]);
});

test("waitForAll rejects only when all promises have settled", async () => {
  const slow = Promise.withResolvers<string>();
  const failed = Promise.reject(new Error("no port"));
  let result = "pending";
  const all = waitForAll([slow.promise, failed]).catch((thrown: unknown) => {
    result = String(thrown);
  });
  await nextTick();
  assert.equal(result, "pending");

  slow.resolve("started");
  await all;

  assert.equal(result, "Error: no port");
});
