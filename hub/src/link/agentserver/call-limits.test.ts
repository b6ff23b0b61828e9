import assert from "node:assert/strict";
import { test } from "vitest";
import { createCallLimit } from "./call-limits.ts";

test("limits the calls of each agent separately", () => {
  const calls = createCallLimit(2);
  const first = calls.acquire("paris");
  assert.ok(first !== undefined && calls.acquire("paris") !== undefined);

  assert.equal(calls.acquire("paris"), undefined);
  assert.ok(calls.acquire("rome") !== undefined);
  first();
  first();

  assert.ok(calls.acquire("paris") !== undefined);
  assert.equal(calls.acquire("paris"), undefined);
});
