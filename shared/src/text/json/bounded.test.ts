import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseBounded } from "./bounded.ts";

describe("JSON of a server", () => {
  test("is read as any JSON is", () => {
    const value = { tags: Array.from({ length: 100_000 }, (_, at) => `v1.0.${at}`), a: [{}, null] };

    assert.deepEqual(parseBounded(JSON.stringify(value)), value);
  });

  test.each([
    ["empty objects", `[${"{},".repeat(200_001)}0]`],
    ["nested lists", "[".repeat(200_001) + "]".repeat(200_001)],
    ["numbers", `[${"0,".repeat(200_001)}0]`],
  ])("of too many %s is not read", (_, text) => {
    assert.throws(() => parseBounded(text), { message: "it has more than 200000 values" });
  });

  test("that is invalid is not quoted", () => {
    assert.throws(() => parseBounded('{"token": "secret'), { message: "it is not JSON" });
  });
});
