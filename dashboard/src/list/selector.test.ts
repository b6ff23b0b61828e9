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
    ["env=prod,", ["paris"]],
    ["toString", []],
  ];
  for (const wrong of ["team in (t1,t2", "env in", "a b", "=prod", "env=a=b", "!", "-x"])
    test(`"${wrong}" is an error`, () => {
      const { matches, problem } = parseSelector(wrong);
      assert.match(problem ?? "", /^This is not a label selector: /);
      assert.equal(Object.values(objects).some(matches), false);
    });

  for (const [selector, names] of cases)
    test(`"${selector}" matches ${names.join(", ") || "nothing"}`, () => {
      const { matches, problem } = parseSelector(selector);
      assert.equal(problem, undefined);
      const matching = Object.entries(objects).filter(([, labels]) => matches(labels));
      assert.deepEqual(
        matching.map(([name]) => name),
        names,
      );
    });
});
