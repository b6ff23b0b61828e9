import assert from "node:assert/strict";
import { test } from "vitest";
import { memoryBytesOf } from "./available-memory.ts";

test("the memory of a program is the limit of its container, if there is one", () => {
  assert.equal(memoryBytesOf(512, 4096), 512);
  assert.equal(memoryBytesOf(0, 4096), 4096);
  assert.equal(memoryBytesOf(2 ** 64, 4096), 4096);
});
