import assert from "node:assert/strict";
import { test } from "node:test";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { apiVersion, bundles, clusterGroups, clusters } from "@flotilla/shared/api/resources.ts";
import { createStore } from "@flotilla/shared/kube/store.ts";
import { createMemoryKube, type MemoryKube } from "../testing/memory-kube.ts";
import { aBundle, aCluster, aDeployment, workspace } from "../testing/objects.ts";
import { isPlanBehind } from "./behind.ts";

const deployment = aDeployment("paris");
const group: ClusterGroup = {
  apiVersion,
  kind: "ClusterGroup",
  metadata: { name: "prod", namespace: workspace },
  spec: {},
};
const nothing = { replace: [], remove: [] };
const replacing = { replace: [deployment], remove: [] };
const removing = { replace: [], remove: [deployment] };

const rows: readonly (readonly [
  what: string,
  plan: Parameters<typeof isPlanBehind>[2],
  since: (rest: MemoryKube) => unknown,
  isBehind: boolean,
])[] = [
  ["replaces, and nothing was changed since", replacing, () => undefined, false],
  ["removes, and nothing was changed since", removing, () => undefined, false],
  [
    "changes nothing, whatever was changed since",
    nothing,
    (rest) => rest.put(bundles, aBundle({ paused: true })),
    false,
  ],
  [
    "replaces where the Bundle is another by now",
    replacing,
    (rest) => rest.put(bundles, aBundle({ paused: true })),
    true,
  ],
  [
    "removes where the Bundle is another by now",
    removing,
    (rest) => rest.put(bundles, aBundle({ paused: true })),
    true,
  ],
  ["removes where the cluster is another by now", removing, relabelled, true],
  ["replaces where the cluster is another by now", replacing, relabelled, false],
  [
    "removes where a group is another by now",
    removing,
    (rest) => rest.put(clusterGroups, group),
    true,
  ],
  [
    "removes where there is one more group",
    removing,
    (rest) => rest.put(clusterGroups, { ...group, metadata: { ...group.metadata, name: "more" } }),
    true,
  ],
];

function relabelled(rest: MemoryKube) {
  return rest.put(clusters, aCluster("paris", { metadata: { labels: { env: "prod" } } }));
}

for (const [what, plan, since, isBehind] of rows)
  test(`a plan that ${what}: ${isBehind ? "behind" : "not behind"}`, async () => {
    const rest = createMemoryKube();
    const known = createStore<Cluster>();
    const bundle = rest.put(bundles, aBundle());
    known.set(rest.put(clusters, aCluster("paris")));
    const groups = [rest.put(clusterGroups, group)];
    since(rest);
    const deps = { rest, clusters: known, deployments: createStore<BundleDeployment>() };

    const { signal } = new AbortController();
    assert.equal(await isPlanBehind(deps, bundle, plan, groups, signal), isBehind);
  });
