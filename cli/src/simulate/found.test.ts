import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { simulatedLabel } from "@flotilla/shared/api/names.ts";
import { describe, test } from "vitest";
import { describeFound, type Found, inTheWay, madeUnder } from "./found.ts";

const marked = { [simulatedLabel]: "many" };
const nothing: Found = { tokens: [], helmOps: [], clusters: [] };

function aHelmOp(name: string, labels = {}): HelmOp {
  return { metadata: { name, labels }, spec: {} };
}

function aCluster(name: string, clientID: string, labels = {}): Cluster {
  return { metadata: { name, labels }, spec: { clientID } };
}

const cases: readonly (readonly [
  what: string,
  found: Partial<Found>,
  made: string,
  inTheWay: string,
])[] = [
  [
    "its own token",
    { tokens: [{ metadata: { name: "many", labels: marked }, spec: {} }] },
    "ClusterRegistrationToken many",
    "",
  ],
  [
    "a token of somebody else",
    { tokens: [{ metadata: { name: "many" }, spec: {} }] },
    "",
    "ClusterRegistrationToken many",
  ],
  [
    "a token of another name",
    {
      tokens: [
        { metadata: { name: "most", labels: { [simulatedLabel]: "most" } }, spec: {} },
        { metadata: { name: "factory-floor" }, spec: {} },
      ],
    },
    "",
    "",
  ],
  [
    "its own HelmOps, also more than are asked for now",
    { helmOps: [aHelmOp("many-1", marked), aHelmOp("many-9", marked)] },
    "HelmOp many-1, HelmOp many-9",
    "",
  ],
  ["a HelmOp of somebody else", { helmOps: [aHelmOp("many-2")] }, "", "HelmOp many-2"],
  ["a HelmOp beyond those that are asked for", { helmOps: [aHelmOp("many-3")] }, "", ""],
  [
    "a HelmOp that somebody labelled for targets",
    { helmOps: [aHelmOp("web", { simulation: "many" })] },
    "",
    "",
  ],
  [
    "Clusters of its agents, whatever they are called",
    { clusters: [aCluster("cluster-1a2b", "simulation/many/run/1")] },
    "Cluster cluster-1a2b",
    "",
  ],
  ["a Cluster of somebody else", { clusters: [aCluster("many-2", "c")] }, "", "Cluster many-2"],
  ["a Cluster beyond those that are asked for", { clusters: [aCluster("many-3", "c")] }, "", ""],
  [
    "a Cluster with its label that no agent of it made",
    { clusters: [aCluster("paris", "c", { simulation: "many" })] },
    "",
    "Cluster paris",
  ],
  [
    "a Cluster of a simulation whose name begins the same",
    { clusters: [aCluster("many-more-1", "simulation/many-more/run/1")] },
    "",
    "",
  ],
];

describe("of what a simulation of two agents and two HelmOps finds", () => {
  for (const [what, some, made, taken] of cases) {
    test(what, () => {
      const found = { ...nothing, ...some };

      const own = madeUnder("many", found);
      const others = inTheWay("many", { agents: 2, bundles: 2 }, found);

      assert.deepEqual([describeFound(own), describeFound(others)], [made, taken]);
    });
  }
});

test("a token of somebody else is in nobody's way where none is made", () => {
  const tokens = [{ metadata: { name: "many" }, spec: {} }];

  const others = inTheWay(
    "many",
    { agents: 1, bundles: 0, tokenSecret: "many" },
    { ...nothing, tokens },
  );

  assert.deepEqual(others, nothing);
});

test("of many objects three are named", () => {
  const clusters = ["a", "b", "c", "d", "e"].map((name) => aCluster(name, ""));

  assert.equal(
    describeFound({ ...nothing, clusters }),
    "Cluster a, Cluster b, Cluster c and 2 more",
  );
});
