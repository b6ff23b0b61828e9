import assert from "node:assert/strict";
import {
  apiVersion,
  type Cluster,
  type ClusterGroup,
  type ClusterGroupStatus,
} from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { toMember } from "../../rules/summary/aggregates.ts";
import { createDeploymentAggregates, toCounted } from "../../rules/summary/bundle-aggregate.ts";
import { createGroupAggregates } from "../../rules/summary/group-aggregate.ts";
import { summarize } from "../../rules/summary/summarize.ts";
import { aCluster, aDeployment, digestA, now, workspace } from "../../testing/index.ts";
import { clusterGroupStatus, isUrgentClusterGroup } from "./status.ts";

const group: ClusterGroup = {
  apiVersion,
  kind: "ClusterGroup",
  metadata: { name: "all", namespace: workspace, generation: 3 },
  spec: { selector: {} },
};
const readyStatus = { appliedDeploymentID: digestA, ready: true };

function connected(name: string): Cluster {
  const namespace = clusterNamespaceName(workspace, name);
  return aCluster(name, { status: { namespace, agent: { connected: true, epoch: 1 } } });
}

/** Clusters with the Bundle `web`: ready in the named ones, waiting in the others. */
function statusOf(
  clusters: readonly Cluster[],
  ready: readonly string[] = clusters.map(({ metadata }) => metadata.name),
  of: ClusterGroup = group,
): ClusterGroupStatus {
  const aggregates = createDeploymentAggregates();
  const deployments = clusters.map(({ metadata: { name } }) =>
    aDeployment(name, ready.includes(name) ? { status: readyStatus } : {}),
  );
  for (const deployment of deployments) aggregates.change(undefined, toCounted(deployment));
  const groups = createGroupAggregates((cluster) => toMember(cluster, aggregates));
  groups.groupChanged(keyOf(of), of, clusters);
  const aggregate = groups.of(keyOf(of));
  const summary = summarize({
    aggregate,
    pending: 0,
    lookUp: (key) => deployments.find((deployment) => clusterKeyOf(deployment) === key),
    nameOf: clusterKeyOf,
  });
  return clusterGroupStatus({ group: of, aggregate, summary, now });
}

describe("the status of a ClusterGroup", () => {
  test("counts its clusters and their deployments", () => {
    const status = statusOf([connected("paris"), connected("rome")], ["paris"]);

    assert.equal(status.clusterCount, 2);
    assert.equal(status.nonReadyClusterCount, 1);
    assert.deepEqual(status.nonReadyClusters, ["rome"]);
    assert.deepEqual(status.display, {
      readyClusters: "1/2",
      readyBundles: "1/2",
      state: "WaitApplied",
    });
    assert.deepEqual(status.summary, {
      ready: 1,
      desiredReady: 2,
      waitApplied: 1,
      nonReadyResources: [{ name: `${workspace}/rome`, bundleState: "WaitApplied" }],
    });
  });

  const cases: readonly (readonly [
    what: string,
    status: ClusterGroupStatus,
    ready: readonly [status: string, reason: string, message: RegExp],
  ])[] = [
    ["where all is ready", statusOf([connected("paris")]), ["True", "Ready", /^$/]],
    ["without clusters", statusOf([]), ["True", "Ready", /^no cluster belongs to the group$/]],
    [
      "where something waits",
      statusOf([connected("paris")], []),
      ["False", "WaitApplied", /^WaitApplied\(1\) \[Cluster fleet-default\/paris\]$/],
    ],
    [
      "whose clusters are offline",
      statusOf([aCluster("paris"), connected("rome")]),
      ["Unknown", "Offline", /^1 of 2 clusters have no agent connected: paris$/],
    ],
    [
      "with more offline clusters than the message names",
      statusOf(Array.from({ length: 12 }, (_, n) => aCluster(`c${n + 10}`))),
      ["Unknown", "Offline", /^12 of 12 clusters .*: c10, c11, .*, c19, …$/],
    ],
  ];
  for (const [what, status, [holds, reason, message]] of cases) {
    test(`${what} is ${holds} ${reason}`, () => {
      const condition = findCondition(status.conditions, "Ready");

      assert.equal(condition?.status, holds);
      assert.equal(condition.reason, reason);
      assert.match(condition.message ?? "", message);
      assert.equal(condition.observedGeneration, 3);
    });
  }

  test("lists offline clusters beside the failures in others", () => {
    const status = statusOf([aCluster("paris"), connected("rome"), connected("oslo")], ["oslo"]);

    assert.equal(status.offlineClusterCount, 1);
    assert.equal(status.nonReadyClusterCount, 2);
    assert.deepEqual(
      [status.summary?.ready, status.summary?.waitApplied, status.summary?.offline],
      [1, 1, 1],
    );
    const ready = findCondition(status.conditions, "Ready");
    assert.equal(ready?.reason, "WaitApplied");
    assert.match(
      ready.message ?? "",
      /^WaitApplied\(1\) .*rome.*; 1 of 3 clusters have no agent connected: paris$/,
    );
  });

  test("reports an invalid selector", () => {
    const odd = { ...group, spec: { selector: { matchLabels: { "not a label": "x" } } } };

    const processed = findCondition(statusOf([], [], odd).conditions, "Processed");
    assert.equal(processed?.status, "False");
    assert.match(processed.message ?? "", /^the selector cannot be used: .*not a label/);
    assert.equal(findCondition(statusOf([]).conditions, "Processed")?.status, "True");
  });

  test("is written at once when its clusters become ready or not ready, not when their number changes", () => {
    const ready = statusOf([connected("paris")]);
    const more = statusOf([connected("paris"), connected("rome")]);
    const offline = statusOf([aCluster("paris")]);

    assert.equal(isUrgentClusterGroup(undefined, ready), true);
    assert.equal(isUrgentClusterGroup(ready, more), false);
    assert.equal(isUrgentClusterGroup(offline, ready), true);
  });
});
