import assert from "node:assert/strict";
import { test } from "vitest";
import { rawNumber } from "../json/index.ts";
import { helmOpSchemas } from "./helm-op.ts";
import { unknownFields } from "./unknown-fields.ts";

const helm = { repo: "https://charts.example.com", chart: "web" };

const cases: readonly (readonly [
  what: string,
  spec: unknown,
  unknown: readonly (readonly [path: string, meant?: string])[],
])[] = [
  ["no field when all are known", { helm, pollingInterval: "5m", targets: [] }, []],
  [
    "a misspelt field, and the similar one that was probably meant",
    { helm: { ...helm, vesion: "1.2.3" } },
    [["spec.helm.vesion", "spec.helm.version"]],
  ],
  [
    "another capital",
    { helm, pollinginterval: "5m" },
    [["spec.pollinginterval", "spec.pollingInterval"]],
  ],
  [
    "a field on the wrong level, and where it belongs",
    { helm: { ...helm, namespace: "shop" }, chart: "web", clusterSelector: {} },
    [
      ["spec.helm.namespace", "spec.namespace"],
      ["spec.chart", "spec.helm.chart"],
      ["spec.clusterSelector", "spec.targets[].clusterSelector"],
    ],
  ],
  ["a field without a similar one", { helm, driftwood: {} }, [["spec.driftwood"]]],
  [
    "fields inside targets and selectors",
    {
      helm,
      targets: [
        {},
        {
          clusterSelector: { matchLabel: { a: "b" } },
          helm: { value: { a: 1 } },
        },
      ],
    },
    [
      ["spec.targets[1].clusterSelector.matchLabel", "spec.targets[1].clusterSelector.matchLabels"],
      ["spec.targets[1].helm.value", "spec.targets[1].helm.values"],
    ],
  ],
  [
    "no field of free content: values and labels",
    {
      helm: { ...helm, values: { vesion: 1, deep: [{ x: rawNumber("12345678901234567890") }] } },
      labels: { vesion: "1" },
      targets: [{ clusterSelector: { matchLabels: { vesion: "1" } } }],
    },
    [],
  ],
  [
    "fields with the names of JavaScript's own properties",
    { helm, constructor: 1 },
    [["spec.constructor"]],
  ],
  ["no field in values of another type", { helm: "web", targets: {} }, []],
  ["no field without a spec", null, []],
  [
    "the beginning of an endless name",
    { helm, ["x".repeat(1_000)]: 1 },
    [[`spec.${"x".repeat(64)}…`]],
  ],
];
for (const [what, spec, unknown] of cases) {
  test(`in a HelmOp's spec reports ${what}`, () => {
    const found = unknownFields(helmOpSchemas.spec, spec, { root: "spec", mostDescribed: 5 });

    assert.equal(found.count, unknown.length);
    assert.deepEqual(
      found.described.map(({ path, meant }) => (meant === undefined ? [path] : [path, meant])),
      unknown,
    );
  });
}

test("reads the schema for as many unknown fields as it describes, and counts the others", () => {
  let reads = 0;
  const schema = new Proxy(helmOpSchemas.spec, {
    get(target, name) {
      if (name === "shape") reads += 1;
      return Reflect.get(target, name);
    },
  });
  const spec = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`zq${at}`, 0]));

  const found = unknownFields(schema, spec, { root: "spec", mostDescribed: 5 });

  assert.deepEqual([found.described.length, found.count], [5, 10_000]);
  assert.ok(reads < 10, String(reads));
});
