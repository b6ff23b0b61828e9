import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { chartFactsOf } from "./chart-facts.ts";

const chart = (dependencies: readonly string[], apiVersion = "v2") =>
  [
    `apiVersion: ${apiVersion}\nname: web\nversion: 1.0.0`,
    "dependencies:",
    ...dependencies.map(
      (repository, at) => `- {name: d${at}, version: 1.x, repository: "${repository}"}`,
    ),
  ].join("\n");
const requirements =
  'dependencies: [{name: a, version: 1.x, repository: "https://required.example.com"}]';

const rows: readonly (readonly [
  what: string,
  chartFile: string,
  requirements: string | undefined,
  expected: readonly string[],
])[] = [
  [
    "are those of HTTP and of registries",
    chart(["https://a.example.com", "oci://r.example.com/charts"]),
    undefined,
    ["https://a.example.com", "oci://r.example.com/charts"],
  ],
  [
    "are listed once",
    chart(["https://a.example.com/x", "https://A.example.com/x/"]),
    undefined,
    ["https://A.example.com/x/"],
  ],
  [
    "are none for files, names of a client and bundled charts",
    chart(["file://../b", "@c", ""]),
    undefined,
    [],
  ],
  [
    "are those of requirements.yaml in a chart of v1",
    chart([], "v1"),
    requirements,
    ["https://required.example.com"],
  ],
  ["are not those of requirements.yaml in a chart of v2", chart([]), requirements, []],
  ["are none for a file that cannot be read", "name: [", undefined, []],
];

describe("the repositories of a chart's dependencies", () => {
  test.each(rows)("%s", (_, chartFile, required, expected) =>
    assert.deepEqual(
      chartFactsOf({ chart: chartFile, ...(required !== undefined && { requirements: required }) })
        .repositories,
      expected,
    ),
  );
});
