import assert from "node:assert/strict";
import type { HelmChartSpec } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { presentValuesFiles, rejectManyValuesFiles, treeChartVersion } from "./tree-chart.ts";

const chartSpec: HelmChartSpec = {
  chart: "charts/a",
  version: "*",
  interval: "1m",
  reconcileStrategy: "ChartVersion",
  sourceRef: { kind: "GitRepository", name: "g" },
};
const hash = "0123456789abcdef0123456789abcdef01234567";

describe("the version of a chart of a tree", () => {
  const cases: readonly (readonly [
    name: string,
    version: string,
    spec: Partial<HelmChartSpec>,
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
      const metadata = { name: "c", namespace: "n", generation: 3 };
      const full = { ...chartSpec, ...spec };
      assert.equal(treeChartVersion({ metadata, spec: full }, version, hash), expected);
    });
});

describe("values files of a HelmChart", () => {
  const exists = (file: string) => file !== "gone.yaml";
  const spec = { ...chartSpec, valuesFiles: ["a.yaml", "gone.yaml", "b.yaml"] };

  test("that do not exist are an error which names the first of them", () => {
    assert.throws(() => presentValuesFiles(spec, exists, "commit 1 of https://x"), {
      reason: "ValuesFilesError",
      message: /commit 1 of https:\/\/x has no values file gone\.yaml/,
    });
  });

  test("are a hundred at most, also where the definition has no limit", () => {
    const files = (count: number) => ({
      ...chartSpec,
      valuesFiles: Array.from({ length: count }, () => "zeros.yaml"),
    });

    rejectManyValuesFiles(files(100));
    assert.throws(() => rejectManyValuesFiles(files(101)), {
      reason: "ValuesFilesError",
      stalls: true,
      message: /^spec\.valuesFiles has 101 files, more than the limit of 100/,
    });
  });

  test("that do not exist are left out with ignoreMissingValuesFiles", () => {
    const ignoring = { ...spec, ignoreMissingValuesFiles: true };
    assert.deepEqual(presentValuesFiles(ignoring, exists, "x"), ["a.yaml", "b.yaml"]);
  });
});
