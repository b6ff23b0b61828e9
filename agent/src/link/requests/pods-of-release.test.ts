import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { selectorOf } from "./pods-of-release.ts";

const cases: readonly (readonly [string, unknown, string | undefined])[] = [
  ["labels", { matchLabels: { app: "web", tier: "a" } }, "app=web,tier=a"],
  [
    "expressions",
    {
      matchExpressions: [
        { key: "a", operator: "In", values: ["x", "y"] },
        { key: "b", operator: "NotIn", values: ["z"] },
        { key: "c", operator: "Exists" },
        { key: "d", operator: "DoesNotExist" },
      ],
    },
    "a in (x,y),b notin (z),c,!d",
  ],
  ["nothing, which would be every pod", {}, undefined],
  ["what is not a selector", "app=web", undefined],
];

describe("the selector of a workload", () => {
  for (const [name, selector, expected] of cases)
    test(`is read from ${name}`, () => assert.equal(selectorOf({ spec: { selector } }), expected));

  test("does not exist for a workload without one", () =>
    assert.equal(selectorOf({ spec: {} }), undefined));
});
