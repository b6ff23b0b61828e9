import assert from "node:assert/strict";
import { test } from "vitest";
import { parseChartFile } from "./chart-file.ts";

test("a Chart.yaml needs a name and a version", () => {
  assert.deepEqual(parseChartFile("name: a\nversion: 1.2.3\n", "x"), {
    name: "a",
    version: "1.2.3",
  });
  for (const text of [
    "name: a",
    "name: a/b\nversion: 1.0.0\n",
    "name: a\nversion: latest\n",
    "[",
    "- a",
  ])
    assert.throws(() => parseChartFile(text, "charts/a/Chart.yaml"), {
      reason: "InvalidChartReference",
      stalls: true,
    });
});
