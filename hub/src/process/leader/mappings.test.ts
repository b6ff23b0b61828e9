/** BundleNamespaceMappings, by a leader on an API server in memory: the Bundle `web` of `platform`, and the clusters of two teams. */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  bundleNamespaceMappings,
  bundles,
  clusterGroups,
  helmOps,
} from "@flotilla/shared/api";
import {
  bundleDeploymentFinalizer,
  clusterLabel,
  clusterNamespaceLabel,
} from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import {
  all,
  everywhere,
  helm,
  home,
  type MappedFleet,
  mapped,
  reportReady,
  startMappedFleet,
  tenants,
} from "./testing/index.ts";

describe("the clusters that a Bundle is deployed to (1.8)", () => {
  const rows: readonly (readonly [
    what: string,
    arrange: (fleet: MappedFleet) => void,
    expected: readonly string[],
  ])[] = [
    ["without a mapping: its own namespace's", () => undefined, ["own"]],
    [
      "with a mapping that matches: its own and the selected ones",
      (fleet) => fleet.map(mapped),
      ["own", "paris", "rome"],
    ],
    [
      "without a bundleSelector: no others",
      (fleet) => fleet.map({ namespaceSelector: all }),
      ["own"],
    ],
    [
      "without a namespaceSelector: no others",
      (fleet) => fleet.map({ bundleSelector: all }),
      ["own"],
    ],
    [
      "with an empty bundleSelector: those of each Bundle of the namespace",
      (fleet) => fleet.map({ bundleSelector: {}, namespaceSelector: tenants }),
      ["own", "paris", "rome"],
    ],
    [
      "with a bundleSelector that does not match: no others",
      (fleet) =>
        fleet.map({ bundleSelector: { matchLabels: { tier: "top" } }, namespaceSelector: tenants }),
      ["own"],
    ],
    [
      "with an empty namespaceSelector: those of all namespaces",
      (fleet) => fleet.map({ bundleSelector: {}, namespaceSelector: {} }),
      ["own", "paris", "rome"],
    ],
    [
      "with a mapping in another namespace than the Bundle's: no others",
      (fleet) => fleet.map(mapped, "shared", "team-a"),
      ["own"],
    ],
    [
      "with two mappings: the union",
      (fleet) => {
        fleet.label("team-a", { name: "a" });
        fleet.label("team-b", { name: "b" });
        for (const name of ["a", "b"])
          fleet.map({ bundleSelector: {}, namespaceSelector: { matchLabels: { name } } }, name);
      },
      ["own", "paris", "rome"],
    ],
    [
      "with an invalid selector: no others",
      (fleet) =>
        fleet.map({ bundleSelector: {}, namespaceSelector: { matchLabels: { "a b": "c" } } }),
      ["own"],
    ],
  ];
  for (const [what, arrange, expected] of rows)
    test(what, async (t) => {
      const fleet = startMappedFleet(t);
      arrange(fleet);
      fleet.bundle();
      await fleet.pass();

      assert.deepEqual(fleet.deployed(), expected);
    });
});

test("a target with clusterGroup means the group of the cluster's namespace", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.leader.rest.put(clusterGroups, {
    apiVersion: "fleet.cattle.io/v1alpha1",
    kind: "ClusterGroup",
    metadata: { namespace: "team-a", name: "prod", uid: "uid-prod" },
    spec: { selector: {} },
  });
  fleet.bundle({ targets: [{ clusterGroup: "prod" }] });
  await fleet.pass();

  assert.deepEqual(fleet.deployed(), ["paris"]);
});

test("labels in the metadata of a HelmOp are not matched, those in its spec are", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  const targets = everywhere;
  for (const [name, own, labels] of [
    ["one", { tier: "base" }, {}],
    ["two", {}, { tier: "base" }],
  ] as const)
    fleet.leader.rest.put(
      helmOps,
      aHelmOp(
        { helm, targets, labels },
        { namespace: home, name, labels: own, uid: `uid-${name}` },
      ),
    );
  await fleet.pass();

  const places = fleet
    .deployments()
    .map(({ metadata: { name, labels } }) => `${name} ${labels?.[clusterNamespaceLabel]}`);
  assert.deepEqual(places.toSorted(), [
    "one platform",
    "platform.two team-a",
    "platform.two team-b",
    "two platform",
  ]);
});

describe("at once, without anything else that changes,", () => {
  const changes: readonly (readonly [
    what: string,
    before: (fleet: MappedFleet) => void,
    change: (fleet: MappedFleet) => void,
    expected: readonly string[],
  ])[] = [
    [
      "a mapping that is created deploys",
      () => undefined,
      (fleet) => fleet.map(mapped),
      ["own", "paris", "rome"],
    ],
    [
      "a mapping that is deleted withdraws",
      (fleet) => fleet.map(mapped),
      (fleet) => fleet.unmap(),
      ["own"],
    ],
    [
      "a Namespace that gets the label deploys",
      (fleet) => {
        fleet.label("team-a", {});
        fleet.map(mapped);
      },
      (fleet) => fleet.label("team-a", { tenant: "yes" }),
      ["own", "paris", "rome"],
    ],
    [
      "a Namespace that loses the label withdraws",
      (fleet) => fleet.map(mapped),
      (fleet) => fleet.label("team-a", {}),
      ["own", "rome"],
    ],
    [
      "a cluster that joins a selected namespace is deployed to",
      (fleet) => fleet.map(mapped),
      (fleet) => fleet.join("lyon", "team-a"),
      ["lyon", "own", "paris", "rome"],
    ],
  ];
  for (const [what, before, change, expected] of changes)
    test(what, async (t) => {
      const fleet = startMappedFleet(t);
      before(fleet);
      fleet.bundle();
      await fleet.pass();
      change(fleet);
      await fleet.leader.pass(1_500);

      assert.deepEqual(fleet.deployed(), expected);
    });
});

test("labels of a Namespace that no mapping selects by write nothing", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.bundle();
  await fleet.pass();
  const before = fleet.leader.rest.writes.length;
  fleet.label("team-a", { tenant: "yes", other: "label" });
  await fleet.pass();

  assert.equal(fleet.leader.rest.writes.length, before);
});

test("an invalid selector is named on the mapping, and withdraws nothing", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.bundle();
  await fleet.pass();
  fleet.leader.rest.put(bundleNamespaceMappings, {
    ...fleet.mapping(),
    metadata: { namespace: home, name: "shared", uid: "uid-shared", generation: 2 },
    ...mapped,
    namespaceSelector: { matchLabels: { tenant: "not valid" } },
  });
  await fleet.pass();

  assert.equal(fleet.accepted()?.reason, "InvalidSelector");
  assert.match(fleet.accepted()?.message ?? "", /^namespaceSelector: "not valid" cannot be/);
  assert.match(fleet.message(), /BundleNamespaceMapping shared cannot be used; what is deployed/);
  assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
});

test("Bundles of one name on one cluster get two deployments, of which the foreign one says its namespace", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.bundle();
  fleet.bundle({}, "team-a");
  await fleet.pass();

  const inParis = fleet
    .deployments()
    .filter(({ metadata }) => metadata.labels?.[clusterLabel] === "paris")
    .map(({ metadata }) => metadata.name);
  assert.deepEqual(inParis.toSorted(), ["platform.web", "web"]);
});

test("[1.8] two of the same release name are a conflict, which the foreign Bundle names with the cluster", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  const release = { helm: { ...helm, releaseName: "shop" }, defaultNamespace: "shop" };
  fleet.bundle(release);
  fleet.bundle(release, "team-a");
  await fleet.pass();
  const foreign = fleet.deployments().find(({ metadata }) => metadata.name === "platform.web");
  const message = "release shop/shop belongs to deployment web; give one of the two another name";
  assert.ok(foreign);
  // As its agent reports it.
  const failed = { type: "Deployed", status: "False", reason: "Error", message } as const;
  const { rest } = fleet.leader;
  rest.put(bundleDeployments, { ...foreign, status: { ready: false, conditions: [failed] } });
  await fleet.pass();

  const ready = (namespace: string) =>
    findCondition(rest.peek(bundles, { namespace, name: "web" })?.status?.conditions, "Ready");
  assert.match(
    ready(home)?.message ?? "",
    /team-a\/paris.*release shop\/shop belongs to deployment web/,
  );
  assert.doesNotMatch(ready("team-a")?.message ?? "", /belongs to/);
});

test("a withdrawn deployment is a tombstone until its agent has uninstalled it", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.bundle();
  await fleet.pass();
  fleet.unmap();
  await fleet.pass();

  const gone = fleet
    .deployments()
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  assert.deepEqual(
    gone.map(({ metadata }) => metadata.finalizers),
    [[bundleDeploymentFinalizer], [bundleDeploymentFinalizer]],
  );
});

test("names in a Bundle stay names of its own namespace, whatever the cluster's namespace has", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.bundle({
    downstreamResources: [{ kind: "Secret", name: "settings" }],
    dependsOn: [{ name: "db" }],
  });
  await fleet.pass();

  const [own, foreign] = [await fleet.content("own"), await fleet.content("paris")];
  assert.deepEqual(own.copies, [{ kind: "Secret", name: "settings" }]);
  assert.deepEqual(own.dependsOn, [{ name: "db" }]);
  assert.deepEqual(foreign.copies, [{ kind: "Secret", name: "platform/settings" }]);
  assert.deepEqual(foreign.dependsOn, [
    {
      selector: {
        matchExpressions: [
          { key: "fleet.cattle.io/bundle-name", operator: "In", values: ["db", "platform.db"] },
          { key: "fleet.cattle.io/bundle-namespace", operator: "In", values: ["platform"] },
        ],
      },
    },
  ]);
  const paris = fleet
    .deployments()
    .find(({ metadata }) => metadata.labels?.[clusterLabel] === "paris");
  assert.deepEqual(paris?.spec.referencedObjects, ["Secret/platform/settings"]);
});

test("a new leader withdraws nothing and writes nothing", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.bundle();
  await fleet.pass();
  const before = fleet.leader.rest.writes.length;
  await fleet.leader.drop();
  await fleet.pass();

  assert.equal(fleet.leader.rest.writes.length, before);
});

test("a staged rollout goes through the clusters of two namespaces", async (t) => {
  const fleet = startMappedFleet(t);
  fleet.map(mapped);
  fleet.bundle({
    downstreamResources: [{ kind: "Secret", name: "settings" }],
    rolloutStrategy: {
      stages: [
        { name: "canary", clusterName: "paris" },
        { name: "rest", clusterSelector: {} },
      ],
    },
  });
  await fleet.pass();
  assert.deepEqual(fleet.deployed(), ["paris"]);

  reportReady(fleet, "paris");
  await fleet.pass();
  assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);

  reportReady(fleet, "own");
  reportReady(fleet, "rome");
  await fleet.pass();
  const [rollout] = fleet.leader.rest.all(bundleRollouts);
  assert.equal(rollout?.status?.phase, "Completed");
  // One content for all: a stage has one.
  const contents = fleet.deployments().map(({ spec }) => spec.deploymentID);
  assert.equal(new Set(contents).size, 1);
});
