import assert from "node:assert/strict";
import type { Bundle, Condition } from "@flotilla/shared/api";
import { test } from "vitest";
import { aBundle, aDeployment } from "../../testing/index.ts";
import { failedValues } from "./failed-values.ts";

const missing: Condition = { type: "Deployed", status: "False", reason: "ValuesError" };
const stalled: Condition = { type: "Stalled", status: "True", reason: "ValuesError" };
const other: Condition = { type: "Deployed", status: "False", reason: "Error" };
const secretKeyRef = { name: "login", key: "values.yaml" };
const configMapKeyRef = { name: "sizes", namespace: "shared", key: "values.yaml" };
const origin = { kind: "HelmRelease", name: "web" } as const;
const hubValues = { kind: "Secret", name: "apps/login", key: "values.yaml" } as const;
const ofRelease: Bundle["spec"] = {
  helmOpOptions: {
    origin: {
      ...origin,
      valuesFrom: [hubValues, { ...hubValues, name: "apps/maybe", optional: true }],
    },
  },
};
const ofHelmOp: Bundle["spec"] = {
  defaultNamespace: "shop",
  helm: { valuesFrom: [{ secretKeyRef }] },
  targets: [
    { clusterName: "paris", helm: { valuesFrom: [{ configMapKeyRef }] } },
    { clusterName: "rome", namespace: "rome" },
  ],
};

const rows: readonly (readonly [
  what: string,
  spec: Bundle["spec"],
  conditions: readonly Condition[],
  expected: readonly string[],
])[] = [
  [
    "those of the clusters, each once, with the namespace of the release where they name none",
    ofHelmOp,
    [missing],
    ["Secret shop/login", "ConfigMap shared/sizes", "Secret rome/login"],
  ],
  ["those of the hub that must exist", ofRelease, [other, stalled], ["Secret apps/login"]],
  ["those of the hub without the key", ofRelease, [missing], ["Secret apps/login"]],
  ["none where a template fails", ofHelmOp, [missing, stalled], []],
  ["none where another object of the hub is absent", ofHelmOp, [other, stalled], []],
  ["none where something else fails", ofHelmOp, [other], []],
  ["none without any", {}, [missing], []],
];
test.each(rows)(
  "objects with values of an app that fails are %s",
  (_, spec, conditions, expected) => {
    const deployment = aDeployment("paris", { status: { conditions: [...conditions] } });
    assert.deepEqual(
      failedValues(aBundle(spec), () => [aDeployment("rome"), deployment]).map(
        ({ kind, namespace, name }) => `${kind} ${namespace}/${name}`,
      ),
      expected,
    );
  },
);
