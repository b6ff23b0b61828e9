/** What it costs the hub's API server when thousands of agents go at once, and come back. */
import assert from "node:assert/strict";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import {
  apiVersion,
  bundleDeployments,
  bundles,
  clusterGroups,
  clusters,
  helmOps,
} from "@flotilla/shared/api/resources.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects/object.ts";
import { test } from "vitest";
import { aBundle, aCluster, aDeployment, aHelmOp, digestA, workspace } from "../testing/objects.ts";
import { createReactingLeader } from "../testing/reacting-leader.ts";
import type { WatchedStore } from "../testing/watched-store.ts";

const many = 5_000;
const apps = ["web", "db", "cache"];
const goneMs = 5_000;

test(`${many} agents that go at once cost a write for each Cluster, and a few for all that goes there`, async () => {
  const leader = createReactingLeader();
  const { clock, rest, caches, outcomes, housed, statuses } = leader;
  const names = Array.from({ length: many }, (_, index) => `c${index}`);
  const agentOf = (connected: boolean) => ({
    connected,
    epoch: 1,
    replica: "hub-1",
    lastSeen: "2025-12-24T18:00:00Z",
  });
  const inCluster = (name: string, connected: boolean) => {
    const namespace = clusterNamespaceName(workspace, name);
    const before = rest.peek(clusters, { namespace: workspace, name });
    const status = { ...before?.status, namespace, agent: agentOf(connected) };
    return rest.put(clusters, aCluster(name, { status }));
  };
  for (const name of names) {
    const cluster = inCluster(name, true);
    caches.clusters.saw(cluster);
    housed.add(keyOf(cluster));
    for (const bundle of apps) {
      const status = { appliedDeploymentID: digestA, ready: true };
      caches.deployments.saw(rest.put(bundleDeployments, aDeployment(name, { bundle, status })));
    }
  }
  for (const name of apps) {
    const labels = aBundle().metadata.labels ?? {};
    const own = Object.fromEntries(Object.keys(labels).map((label) => [label, name]));
    caches.helmOps.saw(rest.put(helmOps, aHelmOp({}, { name, uid: `uid-${name}` })));
    caches.bundles.saw(rest.put(bundles, aBundle({}, { name, labels: own })));
    outcomes.helmOps.set(`${workspace}/${name}`, { generation: 1, accepted: { ok: true } });
    outcomes.bundles.set(`${workspace}/${name}`, { generation: 1, targets: many, waiting: 0 });
  }
  const all: ClusterGroup = {
    apiVersion,
    kind: "ClusterGroup",
    metadata: { name: "all", namespace: workspace },
    spec: { selector: {} },
  };
  caches.groups.saw(rest.put(clusterGroups, all));
  const stop = leader.lead();
  /** Of what was written. */
  function watchDelivers(): void {
    const see = <T extends KubeObject>(cache: WatchedStore<T>, resource: Resource<T>): void => {
      for (const { metadata } of cache.store.list()) {
        const object = rest.peek(resource, metadata);
        if (object !== undefined) cache.saw(object);
      }
    };
    see(caches.clusters, clusters);
    see(caches.helmOps, helmOps);
    see(caches.bundles, bundles);
    see(caches.groups, clusterGroups);
  }

  for (const name of names) statuses.markCluster(`${workspace}/${name}`);
  for (const name of apps) statuses.markBundle(`${workspace}/${name}`);
  await clock.advance(10_000);

  /** One after the other, as their Clusters are written. */
  async function become(connected: boolean): Promise<Readonly<Record<string, number>>> {
    watchDelivers();
    const from = rest.writes.length;
    for (const name of names) {
      caches.clusters.saw(inCluster(name, connected));
      clock.advanceNow(goneMs / many);
    }
    await clock.advance(10_000);
    const counts: Record<string, number> = {};
    for (const write of rest.writes.slice(from)) {
      const [, kind = ""] = write.split(" ");
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  }

  for (const connected of [false, true]) {
    const writes = await become(connected);
    assert.deepEqual(writes["bundledeployments"], undefined);
    assert.equal(writes["clusters"], many);
    for (const kind of ["helmops", "bundles"])
      assert.ok((writes[kind] ?? 0) <= apps.length * 10, `${writes[kind]} writes of ${kind}`);
    assert.ok((writes["clustergroups"] ?? 0) <= 10, `${writes["clustergroups"]}`);
    const away = connected ? undefined : many;
    for (const name of apps) {
      const status = rest.peek(helmOps, { namespace: workspace, name })?.status;
      assert.equal(status?.offlineClusterCount, away);
      assert.equal(findCondition(status?.conditions, "Ready")?.status, "True");
      assert.equal(status?.summary?.ready, many);
      assert.ok(JSON.stringify(status).length < 10_000);
    }
  }
  stop();
});
