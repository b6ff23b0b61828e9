import assert from "node:assert/strict";
import { test } from "vitest";
import { createOpenCalls } from "./open-calls.ts";

test("a caller has as many calls open as it may, and others have their own", () => {
  const calls = createOpenCalls(2);
  const first = calls.enter("paris");
  assert.ok(first !== undefined && calls.enter("paris") !== undefined);

  assert.equal(calls.enter("paris"), undefined);
  assert.ok(calls.enter("rome") !== undefined);
  first();
  first();

  assert.ok(calls.enter("paris") !== undefined);
  assert.equal(calls.enter("paris"), undefined);
});
