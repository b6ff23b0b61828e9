import assert from "node:assert/strict";
import {
  type BundleDeployment,
  type BundleDeploymentStatus,
  maxCountedClusters,
  maxListed,
  maxResources,
} from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { describe, test } from "vitest";
import { aDeployment, digestA, digestB, workspace } from "../../testing/index.ts";
import { createDeploymentAggregates, toCounted } from "./bundle-aggregate.ts";
import { countByCluster, listObjects } from "./list-objects.ts";

const applied = { appliedDeploymentID: digestA, ready: true };
const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const config = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "config" };
const counts = {
  desiredReady: 2,
  ready: 2,
  notReady: 0,
  missing: 0,
  modified: 0,
  orphaned: 0,
  unknown: 0,
  waitApplied: 0,
};

function inCluster(name: string, status: BundleDeploymentStatus): BundleDeployment {
  return aDeployment(name, { status: { ...applied, ...status } });
}

function rolledUp(deployments: readonly BundleDeployment[]) {
  const aggregates = createDeploymentAggregates();
  const store = new Map(deployments.map((deployment) => [keyOf(deployment), deployment]));
  for (const deployment of deployments) aggregates.change(undefined, toCounted(deployment));
  const aggregate = aggregates.ofBundle(`${workspace}/web`);
  const lookUp = (key: string) => store.get(key);
  return {
    resources: listObjects(aggregate.objects, lookUp),
    clusters: countByCluster(aggregate, lookUp),
  };
}

describe("the objects of a HelmOp", () => {
  test("are listed once each, with the clusters in each state", () => {
    const { resources } = rolledUp([
      inCluster("paris", { resources: [web, config] }),
      inCluster("rome", {
        ready: false,
        resources: [{ ...web, state: "in-progress" }, config],
        nonReadyStatus: [
          {
            ...web,
            summary: { state: "in-progress", transitioning: true, message: ["0 of 2 ready"] },
          },
        ],
      }),
    ]);

    assert.deepEqual(resources, [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        type: "configmap",
        id: "shop/config",
        namespace: "shop",
        name: "config",
        state: "Ready",
        perClusterState: { ready: ["fleet-default/paris", "fleet-default/rome"] },
      },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        type: "apps.deployment",
        id: "shop/web",
        namespace: "shop",
        name: "web",
        state: "NotReady",
        transitioning: true,
        message: "0 of 2 ready",
        perClusterState: { notReady: ["fleet-default/rome"], ready: ["fleet-default/paris"] },
      },
    ]);
  });

  test("of cluster scope have no namespace", () => {
    const node = { apiVersion: "v1", kind: "Node", name: "n" };

    const [listed] = rolledUp([inCluster("paris", { resources: [node] })]).resources;

    assert.equal(listed?.id, "n");
    assert.ok(!("namespace" in listed));
  });

  const reasons: readonly (readonly [
    what: string,
    status: BundleDeploymentStatus,
    expected: object,
  ])[] = [
    [
      "that failed",
      { nonReadyStatus: [{ ...web, summary: { state: "failed", error: true, message: ["no"] } }] },
      { state: "NotReady", error: true, message: "no" },
    ],
    [
      "that is missing",
      { modifiedStatus: [{ ...web, missing: true }] },
      { state: "Missing", error: true, message: "deployment.apps shop/web is missing" },
    ],
    [
      "that are modified",
      { modifiedStatus: [{ ...web, patch: "{}" }] },
      { state: "Modified", error: true, message: "deployment.apps shop/web was modified {}" },
    ],
    ["that are not ready, without a message", { nonReadyStatus: [web] }, { state: "NotReady" }],
  ];
  for (const [what, status, expected] of reasons) {
    test(`${what} have that state`, () => {
      const [listed] = rolledUp([inCluster("paris", status)]).resources;
      const { state, error, transitioning, message } = listed ?? {};

      assert.deepEqual(
        JSON.parse(JSON.stringify({ state, error, transitioning, message })),
        expected,
      );
    });
  }

  test("name at most ten clusters in each state, and that there are more", () => {
    const many = Array.from({ length: 26 }, (_, n) => String.fromCharCode(97 + n));

    const [listed] = rolledUp(many.map((name) => inCluster(name, { resources: [web] }))).resources;

    assert.equal(listed?.incompleteState, true);
    assert.deepEqual(
      listed.perClusterState?.ready,
      many.slice(0, maxListed).map((name) => `${workspace}/${name}`),
    );
  });

  test("are those that are not ready when the list is full, in the same order", () => {
    const resources = Array.from({ length: maxResources }, (_, n) => ({
      ...config,
      name: `c${n + 100}`,
    }));

    const { resources: listed } = rolledUp([
      inCluster("paris", { resources: [...resources, { ...web, state: "failed" }] }),
    ]);

    assert.deepEqual(
      listed.map(({ name }) => name),
      [...resources.slice(0, -1).map(({ name }) => name), "web"],
    );
  });

  test("take 32 KiB at most, with names and messages of any length", () => {
    const long = "n".repeat(250);
    const clusters = Array.from({ length: 12 }, (_, n) =>
      inCluster(`c${n}-${"x".repeat(40)}`, {
        nonReadyStatus: Array.from({ length: 20 }, (_, index) => ({
          ...web,
          name: `${long}${index}`,
          summary: { state: "failed", message: ["m".repeat(5_000)] },
        })),
        resourceCounts: counts,
      }),
    );

    const { resources } = rolledUp(clusters);

    assert.ok(resources.length > 10);
    assert.ok(JSON.stringify(resources).length <= 32 * 1024);
  });

  test("are the same, in the same order and in bounds, for any order of the reports", () => {
    const object = fc.record({
      apiVersion: fc.constantFrom("v1", "apps/v1"),
      kind: fc.constantFrom("Pod", "Service"),
      name: fc.nat({ max: 40 }).map(String),
      state: fc.constantFrom(undefined, "in-progress", "missing", "unknown"),
    });
    const deployments = fc
      .uniqueArray(
        fc.record({
          cluster: fc.nat({ max: 40 }).map((n) => `c${n}`),
          applied: fc.constantFrom(digestA, digestB),
          resources: fc.array(object, { maxLength: 12 }),
        }),
        { selector: ({ cluster }) => cluster, maxLength: 30 },
      )
      .map((all) =>
        all.map(({ cluster, applied: appliedDeploymentID, resources }) =>
          inCluster(cluster, { appliedDeploymentID, resources, resourceCounts: counts }),
        ),
      );
    fc.assert(
      fc.property(
        deployments.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        ([all, shuffled]) => {
          const { resources, clusters } = rolledUp(all);

          assert.deepEqual(rolledUp(shuffled), { resources, clusters });
          assert.ok(resources.length <= maxResources);
          assert.ok(Object.keys(clusters).length <= maxCountedClusters);
          for (const { perClusterState = {} } of resources)
            for (const names of Object.values(perClusterState))
              assert.ok(names.length <= maxListed);
        },
      ),
    );
  });
});

describe("the objects by cluster", () => {
  test("are counted for the clusters that need attention most, then by name", () => {
    const names = Array.from({ length: 40 }, (_, n) => `c${n + 10}`);
    const deployments = names.map((name) =>
      name === "c49" || name === "c48"
        ? inCluster(name, { ready: false, resourceCounts: { ...counts, ready: 1, notReady: 1 } })
        : inCluster(name, { resourceCounts: counts }),
    );

    const { clusters } = rolledUp(deployments);

    assert.deepEqual(
      Object.keys(clusters),
      ["c48", "c49", ...names.slice(0, maxCountedClusters - 2)].map(
        (name) => `${workspace}/${name}`,
      ),
    );
    assert.equal(clusters[`${workspace}/c49`]?.notReady, 1);
  });

  test("exclude a cluster without a report", () => {
    assert.deepEqual(rolledUp([aDeployment("paris")]).clusters, {});
  });
});
