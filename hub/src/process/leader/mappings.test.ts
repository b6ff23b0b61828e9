/** BundleNamespaceMappings, by a leader on an API server in memory: the Bundle `web` of `platform`, and the clusters of two teams. */
import assert from "node:assert/strict";
import {
  type BundleNamespaceMapping,
  type BundleSpec,
  bundleDeployments,
  bundleNamespaceMappings,
  bundles,
  clusterGroups,
  clusters,
  helmOps,
  policies,
} from "@flotilla/shared/api";
import {
  bundleDeploymentFinalizer,
  clusterLabel,
  clusterNamespaceLabel,
} from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { unpackContent } from "@flotilla/shared/content";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import { describe, type TestContext, test } from "vitest";
import { aBundle, aCluster, aHelmOp, aPolicy, createTestLeader } from "../../testing/index.ts";
import { type RepositoryState, repo, resolverOf } from "./testing/index.ts";

/** Longer than the delay of statuses. */
const quietMs = 3_000;
const home = "platform";
const all = {};
const tenants = { matchLabels: { tenant: "yes" } };
const mapped = { bundleSelector: { matchLabels: { tier: "base" } }, namespaceSelector: tenants };
const helm = { repo, chart: "web", version: "1.2.3" };
const everywhere = [{ name: "all", clusterSelector: {} }];

type Selectors = Pick<BundleNamespaceMapping, "bundleSelector" | "namespaceSelector">;

/** Three workspaces with a cluster each: `platform`, and `team-a` and `team-b`, which are tenants. */
function start(t: TestContext) {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  t.onTestFinished(() => leader.stop());
  const { rest } = leader;
  const namespaceOf = new Map([
    ["own", home],
    ["paris", "team-a"],
    ["rome", "team-b"],
  ]);

  function label(namespace: string, labels: Readonly<Record<string, string>>): void {
    const before = rest.peek(namespaces, { name: namespace });
    rest.put(namespaces, { ...before, metadata: { ...before?.metadata, name: namespace, labels } });
  }

  function join(name: string, namespace: string): void {
    const metadata = { namespace, uid: `uid-${namespace}-${name}` };
    const agent = { connected: true, epoch: 1, lastSeen: "2025-12-24T18:00:00Z" };
    rest.put(clusters, aCluster(name, { metadata, status: { agent } }));
  }

  label(home, {});
  label("team-a", { tenant: "yes" });
  label("team-b", { tenant: "yes" });
  for (const [name, namespace] of namespaceOf) join(name, namespace);

  const fleet = {
    leader,
    label,
    join,
    pass: () => leader.pass(quietMs),
    bundle(spec: Partial<BundleSpec> = {}, namespace = home, name = "web") {
      const ref = { namespace, name };
      rest.put(bundles, {
        ...aBundle(
          { helm, targets: everywhere, ...spec },
          { ...ref, uid: `uid-${namespace}-${name}`, labels: { tier: "base" } },
        ),
      });
    },
    map(selectors: Selectors, name = "shared", namespace = home) {
      rest.put(bundleNamespaceMappings, {
        apiVersion: "fleet.cattle.io/v1alpha1",
        kind: "BundleNamespaceMapping",
        metadata: { namespace, name, uid: `uid-${name}` },
        ...selectors,
      });
    },
    unmap: (name = "shared") => rest.remove(bundleNamespaceMappings, { namespace: home, name }),
    mapping: (name = "shared") => rest.peek(bundleNamespaceMappings, { namespace: home, name }),
    deployments: () => rest.all(bundleDeployments),
    /** The clusters with a deployment that is not withdrawn, as `CLUSTER` or, of another Bundle than `web`, `CLUSTER BUNDLE`. */
    deployed: () =>
      rest
        .all(bundleDeployments)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.labels?.[clusterLabel] ?? "")
        .toSorted(),
    message: () =>
      findCondition(
        rest.peek(bundles, { namespace: home, name: "web" })?.status?.conditions,
        "Accepted",
      )?.message ?? "",
    accepted: (name = "shared") =>
      findCondition(fleet.mapping(name)?.status?.conditions, "Accepted"),
    /** The content of the deployment in a cluster. */
    async content(cluster: string) {
      const deployment = rest
        .all(bundleDeployments)
        .find(({ metadata }) => metadata.labels?.[clusterLabel] === cluster);
      const deploymentId = deployment?.spec.deploymentID ?? "";
      const secret = rest
        .all(secrets)
        .find(
          ({ metadata }) => metadata.name === `content-${deploymentId.slice("sha256:".length)}`,
        );
      const bytes = Buffer.from(Object.values(secret?.data ?? {})[0] ?? "", "base64");
      return await unpackContent({ deploymentId, bytes });
    },
  };
  return fleet;
}

type Fleet = Awaited<ReturnType<typeof start>>;

describe("the clusters that a Bundle is deployed to (1.8)", () => {
  const rows: readonly (readonly [
    what: string,
    arrange: (fleet: Fleet) => void,
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
      const fleet = start(t);
      arrange(fleet);
      fleet.bundle();
      await fleet.pass();

      assert.deepEqual(fleet.deployed(), expected);
    });
});

test("a target with clusterGroup means the group of the cluster's namespace", async (t) => {
  const fleet = start(t);
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
  const fleet = start(t);
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
    before: (fleet: Fleet) => void,
    change: (fleet: Fleet) => void,
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
      const fleet = start(t);
      before(fleet);
      fleet.bundle();
      await fleet.pass();
      change(fleet);
      await fleet.leader.pass(1_500);

      assert.deepEqual(fleet.deployed(), expected);
    });
});

test("labels of a Namespace that no mapping selects by write nothing", async (t) => {
  const fleet = start(t);
  fleet.map(mapped);
  fleet.bundle();
  await fleet.pass();
  const before = fleet.leader.rest.writes.length;
  fleet.label("team-a", { tenant: "yes", other: "label" });
  await fleet.pass();

  assert.equal(fleet.leader.rest.writes.length, before);
});

test("an invalid selector is named on the mapping, and withdraws nothing", async (t) => {
  const fleet = start(t);
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
  const fleet = start(t);
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

test("a withdrawn deployment is a tombstone until its agent has uninstalled it", async (t) => {
  const fleet = start(t);
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
  const fleet = start(t);
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

describe("a Policy of the clusters' namespace", () => {
  const policyIn = (namespace: string, fields: Parameters<typeof aPolicy>[1]) => {
    const policy = aPolicy("rules", fields);
    return { ...policy, metadata: { ...policy.metadata, namespace, uid: `uid-${namespace}` } };
  };

  test("refuses Bundles of namespaces that it does not allow, there alone, and the mapping says so", async (t) => {
    const fleet = start(t);
    fleet.leader.rest.put(policies, policyIn("team-a", { allowedBundleNamespaces: ["other"] }));
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "rome"]);
    assert.equal(fleet.accepted()?.reason, "NamespacesRefused");
    assert.deepEqual(fleet.mapping()?.status?.refusedNamespaces, ["team-a"]);
    assert.equal(fleet.mapping()?.status?.namespaceCount, 2);
    assert.match(
      fleet.message(),
      /not deployed to Clusters of namespace team-a: disallowed namespace platform/,
    );
  });

  test("that allows the namespace lets its Bundles in, at once", async (t) => {
    const fleet = start(t);
    const policy = policyIn("team-a", { allowedBundleNamespaces: ["other"] });
    fleet.leader.rest.put(policies, policy);
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();
    fleet.leader.rest.put(policies, {
      ...policy,
      metadata: { ...policy.metadata, generation: 2 },
      allowedBundleNamespaces: ["other", home],
    });
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
    assert.equal(fleet.accepted()?.status, "True");
  });

  test("that is created later changes nothing of what is deployed, and stops updates", async (t) => {
    const fleet = start(t);
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();
    const before = (await fleet.content("paris")).values;
    fleet.leader.rest.put(policies, policyIn("team-a", { allowedBundleNamespaces: ["other"] }));
    fleet.bundle({ helm: { ...helm, values: { replicas: 2 } } });
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
    assert.deepEqual((await fleet.content("paris")).values, before);
    assert.deepEqual((await fleet.content("rome")).values, { replicas: 2 });
  });

  const judged: readonly (readonly [string, Parameters<typeof aPolicy>[1], RegExp])[] = [
    [
      "judges repositories",
      { helmOp: { allowedHelmRepoPatterns: ["https://other.example.com"] } },
      /disallowed helm repo .*Policy team-a\/rules/,
    ],
    ["judges accounts", { requireServiceAccount: true }, /serviceAccount is required/],
  ];
  for (const [what, fields, expected] of judged)
    test(`${what}, and the other namespaces are deployed to`, async (t) => {
      const fleet = start(t);
      fleet.leader.rest.put(policies, policyIn("team-a", fields));
      fleet.map(mapped);
      fleet.bundle();
      await fleet.pass();

      assert.deepEqual(fleet.deployed(), ["own", "rome"]);
      assert.match(fleet.message(), expected);
    });

  test("that requires an approval keeps Bundles without one off these Clusters, and stops nothing elsewhere", async (t) => {
    const fleet = start(t);
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();
    const before = (await fleet.content("paris")).values;
    fleet.leader.rest.put(
      policies,
      policyIn("team-a", { rollout: { requiredGates: [{ gate: "approval" }] } }),
    );
    fleet.bundle({ helm: { ...helm, values: { replicas: 2 } } });
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
    assert.deepEqual((await fleet.content("paris")).values, before);
    for (const cluster of ["own", "rome"])
      assert.deepEqual((await fleet.content(cluster)).values, { replicas: 2 });
    assert.match(
      fleet.message(),
      /not deployed to Clusters of namespace team-a: spec\.rolloutStrategy has no stages, .*Policy team-a\/rules/,
    );
  });

  test("that forbids to create namespaces refuses Bundles which would", async (t) => {
    const fleet = start(t);
    fleet.leader.rest.put(policies, policyIn("team-a", { requireServiceAccount: true }));
    fleet.map(mapped);
    fleet.bundle({ serviceAccount: "installer" });
    await fleet.pass();
    assert.deepEqual(fleet.deployed(), ["own", "rome"]);
    assert.match(fleet.message(), /disallowed creation of namespaces/);

    fleet.bundle({ serviceAccount: "installer", createNamespace: false });
    await fleet.pass();
    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
  });
});

test("a new leader withdraws nothing and writes nothing", async (t) => {
  const fleet = start(t);
  fleet.map(mapped);
  fleet.bundle();
  await fleet.pass();
  const before = fleet.leader.rest.writes.length;
  await fleet.leader.drop();
  await fleet.pass();

  assert.equal(fleet.leader.rest.writes.length, before);
});

test("a staged rollout goes through the clusters of two namespaces", async (t) => {
  const fleet = start(t);
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

  report(fleet, "paris");
  await fleet.pass();
  assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);

  report(fleet, "own");
  report(fleet, "rome");
  await fleet.pass();
  const [rollout] = fleet.leader.rest.all(bundleRollouts);
  assert.equal(rollout?.status?.phase, "Completed");
  // One content for all: a stage has one.
  const contents = fleet.deployments().map(({ spec }) => spec.deploymentID);
  assert.equal(new Set(contents).size, 1);
});

/** The agent of a cluster reports that what is desired is ready. */
function report({ leader }: Fleet, cluster: string): void {
  const found = leader.rest
    .all(bundleDeployments)
    .find(({ metadata }) => metadata.labels?.[clusterLabel] === cluster);
  assert.ok(found, `${cluster} has no deployment`);
  const ready = {
    type: "Ready",
    status: "True",
    reason: "",
    message: "",
    lastTransitionTime: "2025-12-24T18:00:00Z",
  } as const;
  const status = {
    appliedDeploymentID: found.spec.deploymentID,
    ready: true,
    conditions: [ready],
  };
  leader.rest.put(bundleDeployments, { ...found, status });
}
