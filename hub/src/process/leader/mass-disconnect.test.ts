/** The requests to the hub's API server when thousands of agents disconnect at once, and reconnect. */
import assert from "node:assert/strict";
import {
  apiVersion,
  bundleDeployments,
  bundles,
  type ClusterGroup,
  clusterGroups,
  clusters,
  helmOps,
} from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { test } from "vitest";
import { clusterNamespaceFor } from "../../base/clusterstate/cluster-namespace.ts";
import { createContentStore } from "../../rules/content/content-store.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import {
  aBundle,
  aCluster,
  accepted,
  aDeployment,
  aHelmOp,
  createTestCaches,
  decidedBundle,
  decidedHelmOp,
  digestA,
  type WatchedStore,
  workspace,
} from "../../testing/index.ts";
import { createControllers } from "./run-controllers.ts";

const many = 5_000;
const apps = ["web", "db", "cache"];
const disconnectMs = 5_000;

test(`${many} agents that disconnect at once cause a few status writes for all their deployments`, async () => {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const caches = createTestCaches();
  const log = silentLog();
  const names = Array.from({ length: many }, (_, index) => `c${index}`);
  const inCluster = (name: string, connected: boolean) => {
    const namespace = clusterNamespaceName(workspace, name);
    const before = rest.peek(clusters, { namespace: workspace, name });
    const lastSeen = "2025-12-24T18:00:00Z";
    const agent = { connected, epoch: 1, replica: "hub-1", lastSeen };
    return rest.put(clusters, aCluster(name, { status: { ...before?.status, namespace, agent } }));
  };
  for (const name of names) {
    const cluster = inCluster(name, true);
    caches.clusters.saw(cluster);
    caches.namespaces.saw(clusterNamespaceFor(cluster));
    for (const bundle of apps) {
      const status = { appliedDeploymentID: digestA, ready: true };
      caches.deployments.saw(rest.put(bundleDeployments, aDeployment(name, { bundle, status })));
    }
  }
  for (const name of apps) {
    const labels = aBundle().metadata.labels ?? {};
    const own = Object.fromEntries(Object.keys(labels).map((label) => [label, name]));
    const helmOp = aHelmOp({}, { name, uid: `uid-${name}` });
    const bundle = aBundle({}, { name, labels: own });
    caches.helmOps.saw(rest.put(helmOps, decidedHelmOp(helmOp, accepted)));
    caches.bundles.saw(rest.put(bundles, decidedBundle(bundle, { targets: many })));
  }
  const all: ClusterGroup = {
    apiVersion,
    kind: "ClusterGroup",
    metadata: { name: "all", namespace: workspace },
    spec: { selector: {} },
  };
  caches.groups.saw(rest.put(clusterGroups, all));
  // Only the statuses: none of the controllers runs.
  const stop = createControllers({
    rest,
    caches,
    clock,
    log,
    hubId: "hub",
    metrics: new Registry(),
    resolver: {
      resolve: () => Promise.reject(new Error("no source")),
    },
    askAgent: () => Promise.reject(new Error("no agent")),
    signer: createPinSigner(Buffer.from("key")),
    contents: createContentStore({ rest, stored: caches.contents.store, namespace: "hub", clock }),
    events: { record: () => undefined, flush: () => Promise.resolve() },
    objects: {
      watch: () => undefined,
      unwatch: () => undefined,
      known: () => Promise.resolve({ kind: "absent" }),
      refresh: () => Promise.resolve({ kind: "absent" }),
      onChange: () => () => undefined,
    },
  }).start();

  /** The watches deliver what was written. */
  function deliver(): void {
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

  for (const name of names) {
    // Any change of a deployment refreshes the statuses of its cluster and its Bundle.
    for (const bundle of apps) {
      const found = caches.deployments.store.get(keyOf(aDeployment(name, { bundle })));
      assert.ok(found !== undefined);
      caches.deployments.saw(rest.put(bundleDeployments, found));
    }
  }
  await clock.advance(10_000);

  /** One after the other, as their Clusters are written. */
  async function writesUntil(connected: boolean): Promise<Readonly<Record<string, number>>> {
    deliver();
    const from = rest.writes.length;
    for (const name of names) {
      caches.clusters.saw(inCluster(name, connected));
      clock.advanceNow(disconnectMs / many);
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
    const writes = await writesUntil(connected);
    assert.deepEqual(writes["bundledeployments"], undefined);
    assert.equal(writes["clusters"], many);
    for (const kind of ["helmops", "bundles"])
      assert.ok((writes[kind] ?? 0) <= apps.length * 10, `${writes[kind]} writes of ${kind}`);
    assert.ok((writes["clustergroups"] ?? 0) <= 10, `${writes["clustergroups"]}`);
    const offline = connected ? undefined : many;
    for (const name of apps) {
      const status = rest.peek(helmOps, { namespace: workspace, name })?.status;
      assert.equal(status?.offlineClusterCount, offline);
      assert.equal(findCondition(status?.conditions, "Ready")?.status, "True");
      assert.equal(status?.summary?.ready, many);
      assert.ok(JSON.stringify(status).length < 10_000);
    }
  }
  stop();
});
