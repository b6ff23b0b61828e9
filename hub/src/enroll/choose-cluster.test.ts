import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { agentKeyAnnotation, type ChoiceInputs, chooseCluster, nameFor } from "./choose-cluster.ts";
import { cleanLabels } from "./clean-labels.ts";

function cluster(name: string, key?: string, more?: Partial<Cluster["metadata"]>): Cluster {
  return {
    metadata: {
      name,
      ...(key !== undefined && { annotations: { [agentKeyAnnotation]: key } }),
      ...more,
    },
    spec: { clientID: "client" },
  };
}

const base: ChoiceInputs = {
  clientId: "client",
  fingerprint: "sha256:aa",
  clusterName: undefined,
  enrolled: [],
  isTaken: () => false,
};

suite("the Cluster of an agent that enrols", () => {
  const same = cluster("one", "sha256:aa");
  const adoptable = cluster("one");
  const foreign = cluster("one", "sha256:bb");
  const going = cluster("one", "sha256:aa", { deletionTimestamp: "2026-01-01T00:00:00Z" });
  const cases: readonly (readonly [
    string,
    Partial<ChoiceInputs>,
    ReturnType<typeof chooseCluster>,
  ])[] = [
    ["is new under the name asked for", { clusterName: "eu-1" }, { kind: "create", name: "eu-1" }],
    [
      "is new under a name from its client id when it asks for none",
      {},
      { kind: "create", name: nameFor("client") },
    ],
    [
      "is new under a name from its client id when the name asked for is taken",
      { clusterName: "eu-1", isTaken: (name) => name === "eu-1" },
      { kind: "create", name: nameFor("client") },
    ],
    ["is the same again for the same key", { enrolled: [same] }, { kind: "same", cluster: same }],
    [
      "is the one that was made for it beforehand",
      { enrolled: [adoptable] },
      { kind: "adopt", cluster: adoptable },
    ],
    [
      "is refused with another key",
      { enrolled: [foreign] },
      { kind: "other-key", cluster: foreign },
    ],
    ["is not one that is being deleted", { enrolled: [going] }, { kind: "going", cluster: going }],
    [
      "is the oldest where two have its client id",
      {
        enrolled: [
          cluster("b", "sha256:bb", { creationTimestamp: "2026-01-02T00:00:00Z" }),
          cluster("c", "sha256:aa", { creationTimestamp: "2026-01-01T00:00:00Z" }),
        ],
      },
      {
        kind: "same",
        cluster: cluster("c", "sha256:aa", { creationTimestamp: "2026-01-01T00:00:00Z" }),
      },
    ],
  ];
  for (const [what, inputs, expected] of cases) {
    test(what, () => assert.deepEqual(chooseCluster({ ...base, ...inputs }), expected));
  }

  test("is named after the first twelve digits of its client id's digest", () => {
    assert.equal(nameFor("client"), "cluster-948fe603f61d");
  });

  test("gets no label that only the hub gives", () => {
    assert.deepEqual(
      cleanLabels({
        env: "prod",
        "example.com/fleet.cattle.io": "x",
        "fleet.cattle.io/name": "x",
        "management.cattle.io/cluster": "x",
        "sub.fleet.cattle.io/a": "x",
        "notfleet.cattle.io/a": "x",
      }),
      { env: "prod", "example.com/fleet.cattle.io": "x", "notfleet.cattle.io/a": "x" },
    );
  });
});
