import assert from "node:assert/strict";
import type { Cluster, ClusterGroup, Schedule } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { createSchedules } from "../../rules/index.ts";
import { aCluster, aSchedule } from "../../testing/index.ts";
import { createConcerned } from "./concerned.ts";

const env = (value: string) => ({ matchLabels: { env: value } });

const ofProd = aSchedule("prod", { targets: { clusters: [{ clusterSelector: env("prod") }] } });
const ofTest = aSchedule("test", { targets: { clusters: [{ clusterSelector: env("test") }] } });
const ofGroup = aSchedule("group", { targets: { clusters: [{ clusterGroup: "big" }] } });

function cluster(name: string, labels: Readonly<Record<string, string>>): Cluster {
  return aCluster(name, { metadata: { labels } });
}

function concerned(list: readonly Schedule[], ...all: readonly Cluster[]) {
  const schedules = createStore<Schedule>();
  for (const schedule of list) schedules.set(schedule);
  const clusters = createStore<Cluster>();
  for (const each of all) clusters.set(each);
  const groups = createStore<ClusterGroup>();
  const rules = createSchedules({ schedules, groups });
  return createConcerned({ schedules, clusters, rules });
}

const names = (keys: readonly ObjectKey[]) => keys.map((key) => refOf(key).name);
const key = keyOf({ namespace: "fleet-default", name: "paris" });

function aGroup(name: string, spec: ClusterGroup["spec"]): ClusterGroup {
  const metadata = { name, namespace: "fleet-default", uid: `uid-${name}` };
  return { apiVersion: "fleet.cattle.io/v1alpha1", kind: "ClusterGroup", metadata, spec };
}

test("a cluster whose labels change concerns the Schedules that it leaves and joins, and no other", () => {
  const before = cluster("paris", { env: "prod" });
  const after = cluster("paris", { env: "test" });
  const { schedulesOfCluster } = concerned([ofProd, ofTest, ofGroup], after);

  assert.deepEqual(names(schedulesOfCluster({ key, before, after })), ["prod", "test"]);
  const other = cluster("paris", { env: "test", tier: "1" });
  assert.deepEqual(names(schedulesOfCluster({ key, before: after, after: other })), []);
  assert.deepEqual(names(schedulesOfCluster({ key, after })), ["test"]);
  assert.deepEqual(names(schedulesOfCluster({ key, before: after })), ["test"]);
});

test("a Schedule that is changed or deleted concerns the clusters that it was for", () => {
  const all = [cluster("paris", { env: "prod" }), cluster("rome", { env: "test" })];
  const { clustersOfSchedule } = concerned([ofTest], ...all);

  assert.deepEqual(names(clustersOfSchedule({ key, before: ofProd, after: ofTest })), ["paris"]);
  assert.deepEqual(names(clustersOfSchedule({ key, before: ofProd })), ["paris"]);
  assert.deepEqual(names(clustersOfSchedule({ key, after: ofTest })), []);
});

test("a group concerns the Schedules that select by groups, and the clusters that leave and join it", () => {
  const all = [cluster("paris", { env: "prod" }), cluster("rome", { env: "test" })];
  const { schedulesOfGroup, clustersOfGroup } = concerned([ofProd, ofGroup], ...all);
  const before = aGroup("big", { selector: env("prod") });
  const after = aGroup("big", { selector: env("test") });
  const change = { key, before, after };

  assert.deepEqual(names(schedulesOfGroup(change)), ["group"]);
  assert.deepEqual(names(clustersOfGroup(change)).toSorted(), ["paris", "rome"]);
  assert.deepEqual(names(clustersOfGroup({ key, before, after: before })), []);
  assert.deepEqual(names(concerned([ofProd], ...all).clustersOfGroup(change)), []);
});
