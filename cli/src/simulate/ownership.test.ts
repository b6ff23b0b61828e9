import assert from "node:assert/strict";
import type { Cluster, HelmOp } from "@flotilla/shared/api";
import { simulatedLabel } from "@flotilla/shared/api/names";
import { describe, test } from "vitest";
import {
  conflictingObjects,
  describeObjects,
  ownedObjects,
  type SimulationObjects,
} from "./ownership.ts";

const ownLabel = { [simulatedLabel]: "many" };
const nothing: SimulationObjects = { tokens: [], helmOps: [], clusters: [] };

function aHelmOp(name: string, labels = {}): HelmOp {
  return { metadata: { name, labels }, spec: {} };
}

function aCluster(name: string, clientID: string, labels = {}): Cluster {
  return { metadata: { name, labels }, spec: { clientID } };
}

const cases: readonly (readonly [
  what: string,
  found: Partial<SimulationObjects>,
  owned: string,
  conflicting: string,
])[] = [
  [
    "its own token",
    { tokens: [{ metadata: { name: "many", labels: ownLabel }, spec: {} }] },
    "ClusterRegistrationToken many",
    "",
  ],
  [
    "a token that a user created",
    { tokens: [{ metadata: { name: "many" }, spec: {} }] },
    "",
    "ClusterRegistrationToken many",
  ],
  [
    "a token with another name",
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
    "its own HelmOps, even more than requested",
    { helmOps: [aHelmOp("many-1", ownLabel), aHelmOp("many-9", ownLabel)] },
    "HelmOp many-1, HelmOp many-9",
    "",
  ],
  ["a HelmOp that a user created", { helmOps: [aHelmOp("many-2")] }, "", "HelmOp many-2"],
  ["a HelmOp with a number that is not requested", { helmOps: [aHelmOp("many-3")] }, "", ""],
  ["a HelmOp that a user labelled", { helmOps: [aHelmOp("web", { simulation: "many" })] }, "", ""],
  [
    "Clusters of its agents, with any name",
    { clusters: [aCluster("cluster-1a2b", "simulation/many/run/1")] },
    "Cluster cluster-1a2b",
    "",
  ],
  ["a Cluster that a user created", { clusters: [aCluster("many-2", "c")] }, "", "Cluster many-2"],
  [
    "a Cluster with a number that is not requested",
    { clusters: [aCluster("many-3", "c")] },
    "",
    "",
  ],
  [
    "a Cluster with its label that none of its agents created",
    { clusters: [aCluster("paris", "c", { simulation: "many" })] },
    "",
    "Cluster paris",
  ],
  [
    "a Cluster of a simulation whose name has the same prefix",
    { clusters: [aCluster("many-more-1", "simulation/many-more/run/1")] },
    "",
    "",
  ],
];

describe("among the objects on the hub, a simulation with two agents and two HelmOps finds", () => {
  for (const [what, some, owned, conflicting] of cases) {
    test(what, () => {
      const found = { ...nothing, ...some };

      const own = ownedObjects("many", found);
      const others = conflictingObjects("many", { agents: 2, bundles: 2 }, found);

      assert.deepEqual([describeObjects(own), describeObjects(others)], [owned, conflicting]);
    });
  }
});

test("a token that a user created does not conflict if no token is needed", () => {
  const tokens = [{ metadata: { name: "many" }, spec: {} }];

  const others = conflictingObjects(
    "many",
    { agents: 1, bundles: 0, tokenSecret: "many" },
    { ...nothing, tokens },
  );

  assert.deepEqual(others, nothing);
});

test("describes the first five of many objects", () => {
  const clusters = ["a", "b", "c", "d", "e", "f", "g"].map((name) => aCluster(name, ""));

  assert.equal(
    describeObjects({ ...nothing, clusters }),
    "Cluster a, Cluster b, Cluster c, Cluster d, Cluster e and 2 more",
  );
});
