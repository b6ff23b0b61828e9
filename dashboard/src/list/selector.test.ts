import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseSelector } from "./selector.ts";

const objects = {
  paris: { env: "prod", region: "eu" },
  lyon: { env: "test", region: "eu", edge: "" },
  austin: { region: "us" },
};

describe("a label selector", () => {
  const cases: readonly (readonly [string, readonly (keyof typeof objects)[]])[] = [
    ["", ["paris", "lyon", "austin"]],
    ["env", ["paris", "lyon"]],
    ["!env", ["austin"]],
    ["env=prod", ["paris"]],
    ["env == prod", ["paris"]],
    ["edge=", ["lyon"]],
    ["env!=prod", ["lyon", "austin"]],
    ["env in (prod, test), region=eu", ["paris", "lyon"]],
    ["env notin (prod)", ["lyon", "austin"]],
    ["region in (us,eu),!edge", ["paris", "austin"]],
    ["env in (prod", ["paris"]],
    ["env=prod,", ["paris"]],
    ["toString", []],
  ];
  for (const [selector, names] of cases)
    test(`"${selector}" matches ${names.join(", ") || "nothing"}`, () => {
      const matches = parseSelector(selector);
      const matching = Object.entries(objects).filter(([, labels]) => matches(labels));
      assert.deepEqual(
        matching.map(([name]) => name),
        names,
      );
    });
});
