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
  ["nothing where all is known", { helm, pollingInterval: "5m", targets: [] }, []],
  [
    "a slip, and the field beside it that was meant",
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
  ["a field like no other", { helm, driftwood: {} }, [["spec.driftwood"]]],
  [
    "what is inside of targets and selectors",
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
    "nothing of what is free: values and labels",
    {
      helm: { ...helm, values: { vesion: 1, deep: [{ x: rawNumber("12345678901234567890") }] } },
      labels: { vesion: "1" },
      targets: [{ clusterSelector: { matchLabels: { vesion: "1" } } }],
    },
    [],
  ],
  ["names that every object has", { helm, constructor: 1 }, [["spec.constructor"]]],
  ["nothing in what is not of its type", { helm: "web", targets: {} }, []],
  ["nothing where there is nothing", null, []],
  [
    "the beginning of a name without end",
    { helm, ["x".repeat(1_000)]: 1 },
    [[`spec.${"x".repeat(64)}…`]],
  ],
];
for (const [what, spec, unknown] of cases) {
  test(`of a HelmOp's spec ${what}`, () => {
    const found = unknownFields(helmOpSchemas.spec, spec, "spec");

    assert.deepEqual(
      found.map(({ path, meant }) => (meant === undefined ? [path] : [path, meant])),
      unknown,
    );
  });
}
