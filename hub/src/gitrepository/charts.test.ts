import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { builtVersion, parseChart } from "./chart-version.ts";
import { placeOf } from "./charts.ts";

const hash = "0123456789abcdef0123456789abcdef01234567";
const chart = { metadata: { name: "c", namespace: "n", generation: 3 } };

describe("the version of a chart from Git", () => {
  const cases: readonly (readonly [
    name: string,
    version: string,
    spec: Parameters<typeof builtVersion>[3],
    expected: string,
  ])[] = [
    ["is that of Chart.yaml", "1.0.0", { reconcileStrategy: "ChartVersion" }, "1.0.0"],
    [
      "has the commit with Revision",
      "1.0.0",
      { reconcileStrategy: "Revision" },
      "1.0.0+0123456789ab",
    ],
    [
      "has the generation with values files",
      "1.0.0",
      { reconcileStrategy: "ChartVersion", valuesFiles: ["prod.yaml"] },
      "1.0.0+3",
    ],
    [
      "has none for its own values",
      "1.0.0+x",
      { reconcileStrategy: "ChartVersion", valuesFiles: ["values.yaml"] },
      "1.0.0+x",
    ],
    [
      "has both, instead of its own",
      "1.0.0-rc.1+own",
      { reconcileStrategy: "Revision", valuesFiles: ["a", "b"] },
      "1.0.0-rc.1+0123456789ab.3",
    ],
  ];
  for (const [name, version, spec, expected] of cases)
    test(name, () => {
      assert.equal(builtVersion(version, hash, chart, spec), expected);
    });
});

test("a Chart.yaml needs a name and a version", () => {
  assert.deepEqual(parseChart("name: a\nversion: 1.2.3\n", "x"), { name: "a", version: "1.2.3" });
  for (const text of ["name: a", "name: a\nversion: latest\n", "[", "- a"])
    assert.throws(() => parseChart(text, "charts/a/Chart.yaml"), {
      reason: "InvalidChartReference",
      stalls: true,
    });
});

test("a file of an include is read from the repository that it comes from", () => {
  const tree = { url: "https://x", commit: hash };
  const pin = {
    include: [
      { ...tree, fromPath: "charts", toPath: "vendor/charts" },
      { ...tree, fromPath: "", toPath: "base" },
    ],
  };

  assert.deepEqual(placeOf(pin, "app/Chart.yaml"), { include: undefined, path: "app/Chart.yaml" });
  assert.deepEqual(placeOf(pin, "vendor/charts/a/Chart.yaml"), {
    include: 0,
    path: "charts/a/Chart.yaml",
  });
  assert.deepEqual(placeOf(pin, "base/values.yaml"), { include: 1, path: "values.yaml" });
  assert.deepEqual(placeOf(pin, "baseline/x"), { include: undefined, path: "baseline/x" });
});
