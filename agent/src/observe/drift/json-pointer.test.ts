import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { isWithin, pointerOf, replacedAt, segmentsOf, valueAt } from "./json-pointer.ts";

const object = { a: { "b/c": [{ d: 1 }, { d: 2 }] }, "~": true };

describe("a pointer", () => {
  const cases: readonly (readonly [pointer: string, found: unknown])[] = [
    ["", object],
    ["/a/b~1c/1/d", 2],
    ["/a/b~1c/2", undefined],
    ["/a/b~1c/-", undefined],
    ["/a/b~1c/01", undefined],
    ["/~0", true],
    ["/a/x/y", undefined],
    ["/toString", undefined],
    ["/a/b~1c/length", undefined],
  ];
  for (const [pointer, found] of cases)
    test(`${pointer || "of the whole"} finds ${JSON.stringify(found)}`, () => {
      assert.deepEqual(valueAt(object, segmentsOf(pointer)), found);
      assert.equal(pointerOf(segmentsOf(pointer)), pointer);
    });
});

describe("a value is replaced", () => {
  const cases: readonly (readonly [pointer: string, by: unknown, expected: unknown])[] = [
    ["/a/b~1c/0/d", 3, { ...object, a: { "b/c": [{ d: 3 }, { d: 2 }] } }],
    ["/a/b~1c/0", undefined, { ...object, a: { "b/c": [{ d: 2 }] } }],
    ["/~0", undefined, { a: object.a }],
    ["/new", 1, { ...object, new: 1 }],
    ["/new/deep", 1, object],
    ["/a/b~1c/7", 1, object],
  ];
  for (const [pointer, by, expected] of cases)
    test(`at ${pointer} by ${JSON.stringify(by)}`, () => {
      const before = structuredClone(object);

      assert.deepEqual(replacedAt(object, segmentsOf(pointer), by), expected);
      assert.deepEqual(object, before);
    });
});

test("a pointer is within itself and within those that it begins with", () => {
  assert.ok(isWithin("/a/b", "/a"));
  assert.ok(isWithin("/a/b", ""));
  assert.ok(isWithin("/a", "/a"));
  assert.ok(!isWithin("/ab", "/a"));
  assert.ok(!isWithin("/a", "/a/b"));
});
