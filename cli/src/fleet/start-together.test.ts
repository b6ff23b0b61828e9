import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "vitest";
import { startTogether } from "./start-together.ts";

test("what is started together gives what each of them gave", async () => {
  assert.deepEqual(await startTogether([Promise.resolve(1), Promise.resolve("two")]), [1, "two"]);
});

test("what is started together fails only once the slowest has ended, however it ends", async () => {
  const slow = Promise.withResolvers<string>();
  const failed = Promise.reject(new Error("no port"));
  let outcome = "under way";
  const together = startTogether([slow.promise, failed]).catch((thrown: unknown) => {
    outcome = String(thrown);
  });
  await turn();
  assert.equal(outcome, "under way");

  slow.resolve("up after all");
  await together;

  assert.equal(outcome, "Error: no port");
});
