import assert from "node:assert/strict";
import { test } from "node:test";
import { createCallLimit } from "./call-limit.ts";

test("an agent has a limited number of calls, and others have their own", () => {
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
