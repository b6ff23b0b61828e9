import assert from "node:assert/strict";
import { test } from "vitest";
import { createFilters, stepsOfCall } from "./filters.ts";

const res = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

test("compiling the filters of a call counts as their evaluation does", () => {
  const filters = createFilters();
  const allowance = { steps: stepsOfCall };
  const padding = " || req == 'x'".repeat(100);

  const results = Array.from({ length: 1_000 }, (_, at) =>
    filters.select(
      [`res.kind == 'ConfigMap' || req == '${at}'${padding}`],
      { req: "", res },
      allowance,
    ),
  ).map(({ kind }) => kind);

  assert.equal(results[0], "selected");
  assert.ok(results.indexOf("failed") < 100);
  assert.equal(results.at(-1), "failed");
});

test("a filter that is compiled already costs its evaluation alone", () => {
  const filters = createFilters();
  const source = "res.kind == 'ConfigMap'";
  filters.select([source], { req: "", res }, { steps: stepsOfCall });
  const allowance = { steps: 100 };

  assert.equal(filters.select([source], { req: "", res }, allowance).kind, "selected");
  assert.ok(allowance.steps > 0);
});
