import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { clusterNamespaceName, fleetClusterNamespaceName } from "@flotilla/shared/api/names";
import type { Namespace } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { aCluster, workspace } from "../../testing/index.ts";
import {
  chooseNamespace,
  clusterNamespaceFor,
  clusterNamespaceOf,
  type NamespaceChoice,
} from "./cluster-namespace.ts";

// Fleet shortens the names of both namespaces to the same one.
const [one, other] = [
  "retail-emea-production-store-edge-gateway-98",
  "retail-emea-production-store-edge-gateway-620",
] as const;
const fleetName = fleetClusterNamespaceName(workspace, one);
const ownName = clusterNamespaceName(workspace, one);
const owners = { one: `${workspace}/${one}`, other: `${workspace}/${other}` } as const;
const namespaceOf = (cluster: string, name: string): Namespace =>
  clusterNamespaceFor(aCluster(cluster), name);

describe("the namespace of a Cluster with a long name", () => {
  const cases: readonly (readonly [
    what: string,
    status: NonNullable<Cluster["status"]>,
    existing: readonly Namespace[],
    choice: NamespaceChoice,
  ])[] = [
    ["is its own", {}, [], { kind: "own", name: ownName }],
    [
      "is its own where another Cluster has the name in Fleet, which it never used",
      {},
      [namespaceOf(other, fleetName)],
      { kind: "own", name: ownName },
    ],
    [
      "is the one that it has in Fleet, also after a restore without its status",
      {},
      [namespaceOf(one, fleetName)],
      { kind: "own", name: fleetName },
    ],
    [
      "is its own when the one that it had is another Cluster's",
      { namespace: fleetName },
      [namespaceOf(other, fleetName)],
      { kind: "own", name: ownName, left: { name: fleetName, owner: owners.other } },
    ],
    [
      "is none while its own is another Cluster's",
      {},
      [namespaceOf(other, ownName)],
      { kind: "taken", name: ownName, owner: owners.other },
    ],
  ];
  for (const [what, status, existing, choice] of cases)
    test(what, () => {
      const find = (name: string) => existing.find(({ metadata }) => metadata.name === name);

      assert.deepEqual(chooseNamespace(aCluster(one, { status }), find), choice);
    });
});

test("a status decides only whether the name in Fleet is kept, and names no other namespace", () => {
  const namespaceIn = (namespace: string) =>
    clusterNamespaceOf(aCluster(one, { status: { namespace } }));

  assert.equal(namespaceIn("kube-system"), ownName);
  assert.equal(namespaceIn(clusterNamespaceName(workspace, other)), ownName);
  assert.equal(namespaceIn(fleetName), fleetName);
});
