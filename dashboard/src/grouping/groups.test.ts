import assert from "node:assert/strict";
import type { FleetCluster } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { columnsByName, groupClusters, groupingLabels, noLabel } from "./groups.ts";

const cluster = (name: string, labels: Readonly<Record<string, string>>): FleetCluster => ({
  ...{ namespace: "ns", name, state: "Ready", connected: true, labels, ready: 1, desired: 1 },
});
const clusters = [
  cluster("c", { env: "prod", id: "3" }),
  cluster("a", { env: "prod", id: "1" }),
  cluster("b", { env: "test", id: "2" }),
  cluster("d", { id: "4" }),
];
const fleet = {
  columns: clusters.map(({ name }) => `ns/${name}`),
  clusters: new Map(clusters.map((each) => [`ns/${each.name}`, each])),
};

describe("the groups of a label", () => {
  test("have their clusters by name, and those without the label come last", () => {
    const order = columnsByName(fleet.columns);
    assert.deepEqual(groupClusters(fleet, "env", order), [
      { value: "prod", name: "prod", columns: [1, 0] },
      { value: "test", name: "test", columns: [2] },
      { value: "", name: "without env", columns: [3] },
    ]);
    assert.deepEqual(groupClusters(fleet, noLabel, order), [
      { value: "", name: "all clusters", columns: [1, 2, 0, 3] },
    ]);
  });

  test("are offered for labels that several clusters share", () => {
    assert.deepEqual(groupingLabels(clusters), ["env"]);
  });
});
