import assert from "node:assert/strict";
import { test } from "vitest";
import { entriesOf } from "./entries.ts";

test("an entry counts when its line is complete, also where a part of it ends with a brace", () => {
  assert.deepEqual(entriesOf(""), []);
  assert.deepEqual(entriesOf('{"a":{"b":1}'), []);
  assert.deepEqual(entriesOf('{"a":1}\n{"a":{"b":1}'), [{ a: 1 }]);
  assert.deepEqual(entriesOf('{"a":1}\n{"a":2}\n'), [{ a: 1 }, { a: 2 }]);
});
