import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { rawNumber } from "../../text/json/index.ts";
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

describe("a hostile spec ends the walk", () => {
  const options = { root: "spec", mostDescribed: 5 };
  const entries = <T>(entry: (at: number) => T) =>
    Array.from({ length: 100_000 }, (_, at) => entry(at));

  /** How often the walk reads an entry of `targets`. */
  function countReads(targets: readonly unknown[]) {
    let reads = 0;
    const counted = new Proxy(targets, {
      get(target, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const found = unknownFields(helmOpSchemas.spec, { targets: counted }, options);
    return { found, reads };
  }

  test("with a hundred thousand unknown fields, and reads the schema for those that it describes", () => {
    let reads = 0;
    const schema = new Proxy(helmOpSchemas.spec, {
      get(target, name) {
        if (name === "shape") reads += 1;
        return Reflect.get(target, name);
      },
    });
    const spec = Object.fromEntries(entries((at) => [`zq${at}`, 0]));

    const found = unknownFields(schema, spec, options);

    assert.deepEqual([found.described.length, found.count, found.endedBy], [5, 1_000, "found"]);
    assert.ok(reads < 10, String(reads));
  });

  test("with an unknown field in each of a hundred thousand targets", () => {
    const { found, reads } = countReads(entries((at) => ({ [`zq${at}`]: 0 })));

    assert.deepEqual([found.count, found.endedBy], [1_000, "found"]);
    assert.ok(reads <= 1_002, String(reads));
  });

  test("with a hundred thousand targets that have nothing unknown", () => {
    const { found, reads } = countReads(entries(() => ({ name: "a" })));

    assert.deepEqual(found, { described: [], count: 0, endedBy: "visited" });
    assert.ok(reads <= 25_001, String(reads));
  });
});

test("a thousand full targets are looked at in whole", () => {
  const requirement = { key: "a", operator: "In", values: ["b"] };
  const target = {
    ...{ name: "a", namespace: "b", serviceAccount: "c", createNamespace: true },
    clusterSelector: { matchLabels: { a: "b" }, matchExpressions: [requirement, requirement] },
    helm: { ...helm, version: "1", valuesFrom: [{ secretKeyRef: { name: "a", key: "b" } }] },
    correctDrift: { enabled: true },
  };
  const targets = Array.from({ length: 1_000 }, (_, at) => (at < 999 ? target : { zq: 1 }));

  assert.deepEqual(
    unknownFields(helmOpSchemas.spec, { helm, targets }, { root: "spec", mostDescribed: 5 }),
    { described: [{ path: "spec.targets[999].zq" }], count: 1 },
  );
});
