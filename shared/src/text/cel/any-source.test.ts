import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { seed } from "../../testing/index.ts";
import { compileCel } from "./index.ts";

const tokens = [
  ..."()[]{}.,:?!-+*/%<>'\"\\ \n|&=1a",
  ...[
    "status",
    "list",
    "has(",
    ".all(x, ",
    ".map(x, x",
    "cel.bind(y, ",
    ".size()",
    "size(",
    "null",
  ],
  ...["true", "'text'", "1.5", "'['", ".matches(", "timestamp(", "duration('1h')", ".?a", "[?0]"],
  ...[
    " in ",
    " == ",
    " && ",
    " || ",
    "1u",
    "b'a'",
    "__proto__",
    "type(",
    ".replace('', ",
    "\u00e9",
  ],
];

const variables = {
  status: { a: null, phase: "Running", list: [1, 2.5, "x", true, { a: [] }] },
  list: [[], {}, "2026-01-01T00:00:00Z"],
  a: { b: { c: -1 } },
};

describe("any text", () => {
  const text = fc
    .array(fc.constantFrom(...tokens), { maxLength: 30 })
    .map((parts) => parts.join(""));

  test("is compiled and evaluated, or says why it is not", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), (source) => {
        const compiled = compileCel(source);
        if (compiled.kind === "invalid") {
          assert.ok(compiled.why.length > 0);
          return;
        }
        const evaluated = compiled.expression.evaluate(variables);
        assert.ok(evaluated.kind === "value" || (evaluated.kind === "failed" && evaluated.why));
      }),
      { seed, numRuns: 3_000 },
    );
  });
});
