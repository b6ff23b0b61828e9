/** `flotilla plan` at the port of the hub, with agents that answer and an API server in memory. */
import assert from "node:assert/strict";
import { clusterNamespaceLabel, clusterNamespaceName } from "@flotilla/shared/api/names";
import { type Gate, gates, rolloutApiVersion } from "@flotilla/shared/api/rollout";
import { secrets } from "@flotilla/shared/kube/objects";
import type { FleetPlan } from "@flotilla/shared/plan";
import { describe, test } from "vitest";
import { planSecret } from "../../rollout/plan/plan-secret.ts";
import { answered } from "../../rollout/plan/testing/index.ts";
import {
  aCluster,
  aDeployment,
  aPolicy,
  type createTestCaches,
  digestA,
} from "../../testing/index.ts";
import { servePlans } from "./testing/index.ts";

/** A mapping that selects the namespace `team-a`, which has the cluster `par` with the Bundle. */
function mapTeamA(caches: ReturnType<typeof createTestCaches>): void {
  const metadata = { namespace: "team-a" };
  caches.workspaces.saw({ metadata: { name: "team-a" } });
  caches.mappings.saw({
    apiVersion: "fleet.cattle.io/v1alpha1",
    kind: "BundleNamespaceMapping",
    metadata: { namespace: "fleet-default", name: "all" },
    bundleSelector: {},
    namespaceSelector: {},
  });
  caches.clusters.saw(aCluster("par", { metadata }));
  const namespace = clusterNamespaceName("team-a", "par");
  const labels = { ...aDeployment("par").metadata.labels, [clusterNamespaceLabel]: "team-a" };
  caches.deployments.saw(aDeployment("par", { metadata: { namespace, labels } }));
}

describe("the plan of an app", () => {
  test("is made of what each cluster is to get, in groups, with the text of each", async () => {
    const { plan, asked } = await servePlans({
      answers: { "fleet-default/cgn": answered("replicas", "+replicas\n") },
    });

    const { total, groups, unchanged, unknown } = await plan();

    assert.equal(total, 3);
    assert.deepEqual(
      groups.map(({ clusters: { count, first }, text }) => [count, first, text]),
      [
        [2, ["fleet-default/ams", "fleet-default/ber"], "+image\n"],
        [1, ["fleet-default/cgn"], "+replicas\n"],
      ],
    );
    assert.deepEqual([unchanged.count, unknown], [0, []]);
    assert.equal(asked.length, 5);
  });

  test("needs the right to get bundlerollouts/plan in the namespace of the app", async () => {
    const { get, asked, reviewed } = await servePlans({ isAllowed: false });

    const response = await get();

    assert.equal(response.status, 403);
    assert.match(
      await response.text(),
      /alice may not get bundlerollouts\/plan of API group flotilla\.dev in namespace fleet-default/,
    );
    assert.deepEqual(asked, []);
    assert.match(JSON.stringify(reviewed), /"resource":"bundlerollouts"/);
  });

  test("of one cluster asks that one alone", async () => {
    const { plan, asked } = await servePlans();

    assert.equal((await plan("?cluster=ber")).total, 1);
    assert.deepEqual(
      new Set(asked.map((each) => each.split(" ")[0])),
      new Set(["fleet-default/ber"]),
    );
  });

  test("of a sample says how many were not asked", async () => {
    const { plan, asked } = await servePlans({
      answers: { "fleet-default/ams": answered("") },
    });

    const { notAsked, unchanged, total } = await plan("?sample=1");

    assert.deepEqual([total, notAsked, unchanged.count], [3, 2, 1]);
    assert.equal(asked.length, 1);
  });

  test("of a sample asks one cluster of each minor version of Kubernetes", async () => {
    const { caches, plan } = await servePlans();
    for (const [name, kubernetesVersion] of [
      ["ams", "v1.35.2"],
      ["ber", "v1.36.0"],
      ["cgn", "v1.35.7+k3s1"],
    ] as const) {
      const cluster = aCluster(name);
      const agent = { ...cluster.status?.agent, kubernetesVersion };
      caches.clusters.saw({ ...cluster, status: { ...cluster.status, agent } });
    }

    const { total, notAsked } = await plan("?sample=1");

    assert.deepEqual([total, notAsked], [3, 1]);
  });

  test("has the clusters of namespaces that mappings add, but for those whose Policies refuse it", async () => {
    const { caches, plan } = await servePlans();
    mapTeamA(caches);

    const mapped = await plan();
    caches.policies.saw({
      ...aPolicy("bundles", { allowedBundleNamespaces: ["platform"] }),
      metadata: { namespace: "team-a", name: "bundles" },
    });
    const refused = await plan();

    assert.deepEqual(
      [mapped, refused].map(({ groups }) => groups.map(({ clusters: { first } }) => first)),
      [
        [["fleet-default/ams", "fleet-default/ber", "fleet-default/cgn", "team-a/par"]],
        [["fleet-default/ams", "fleet-default/ber", "fleet-default/cgn"]],
      ],
    );
  });

  test("has the stages of the RolloutPolicy that the app names", async () => {
    const { caches, plan } = await servePlans({ spec: { rolloutStrategy: { policy: "careful" } } });
    caches.rolloutPolicies.saw({
      apiVersion: rolloutApiVersion,
      kind: "RolloutPolicy",
      metadata: { namespace: "fleet-default", name: "careful" },
      spec: {
        stages: [
          { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } },
          { name: "rest" },
        ],
      },
    });
    caches.clusters.saw(aCluster("ber", { metadata: { labels: { canary: "true" } } }));

    const { total } = await plan("?stage=canary");

    assert.equal(total, 1);
  });

  test("asks nobody about a deployment that the hub did not write", async () => {
    const { plan, asked } = await servePlans({ isTrusted: () => false });

    const { unknown, groups } = await plan();

    assert.deepEqual([asked, groups], [[], []]);
    assert.deepEqual([unknown[0]?.reason, unknown[0]?.clusters.count], ["Unplannable", 3]);
  });

  test("of an app or a stage that does not exist is not made", async () => {
    const { get } = await servePlans();

    const response = await get("?stage=prod");

    assert.equal(response.status, 404);
    assert.match(await response.text(), /has no stage prod/);
  });

  const stored: FleetPlan = {
    total: 1,
    groups: [],
    others: { groups: 0, clusters: 0 },
    unchanged: { count: 1, first: ["fleet-default/ams"] },
    unknown: [],
    notAsked: 0,
  };

  function aGate(app: string): Gate {
    return {
      apiVersion: rolloutApiVersion,
      kind: "Gate",
      metadata: { name: "web-7-prod-board", namespace: "fleet-default" },
      spec: {
        type: "Approval",
        app: { kind: "HelmOp", name: app },
        rollout: { name: "web-7", uid: "uid" },
        stage: "prod",
        gate: "board",
        when: "Before",
        revision: digestA,
        digest: digestA,
        clusters: { count: 1, first: [] },
        plan: { groups: 0, changed: 0, unchanged: 1, failing: 0, offline: 0 },
      },
    };
  }

  test("that an approval is about is read from its Secret", async () => {
    const { server, plan, asked } = await servePlans();
    const where = { namespace: "flotilla-system", rollout: "fleet-default/web-7" };
    server.put(gates, aGate("web"));
    server.put(secrets, planSecret({ digest: digestA }, stored, where));

    assert.deepEqual(await plan("?gate=web-7-prod-board"), stored);
    assert.deepEqual(asked, []);
  });

  test("that the approval of another app is about is not read", async () => {
    const { server, get } = await servePlans();
    const where = { namespace: "flotilla-system", rollout: "fleet-default/web-7" };
    server.put(gates, aGate("other"));
    server.put(secrets, planSecret({ digest: digestA }, stored, where));

    assert.equal((await get("?gate=web-7-prod-board")).status, 404);
  });
});
