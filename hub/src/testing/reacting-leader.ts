/** What a leader knows and how it reacts to changes, over an API server in memory, with no loop that would act on them. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { Policy } from "@flotilla/shared/api/policy.ts";
import type { Controller } from "@flotilla/shared/kube/controller/controller.ts";
import type { Namespace, Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { toMember } from "../clustergroup/status.ts";
import { isOfflineIn } from "../clusterstate/presence.ts";
import { reactToChanges } from "../leader/react-to-changes.ts";
import { createStatusWriters } from "../leader/status-writers.ts";
import { createDoubts } from "../resolve/doubts.ts";
import { createOutcomes } from "../status/intent.ts";
import { createTallies } from "../summary/aggregate.ts";
import { countStore } from "../summary/count-store.ts";
import { createGroupTallies } from "../summary/group-aggregate.ts";
import { createWatchedStore } from "./watched-store.ts";

export function createReactingLeader() {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const caches = {
    helmOps: createWatchedStore<HelmOp>(),
    bundles: createWatchedStore<Bundle>(),
    deployments: createWatchedStore<BundleDeployment>(),
    clusters: createWatchedStore<Cluster>(),
    groups: createWatchedStore<ClusterGroup>(),
    policies: createWatchedStore<Policy>(),
    contents: createWatchedStore<Secret>(),
    namespaces: createWatchedStore<Namespace>(),
  };
  const outcomes = createOutcomes();
  const tallies = createTallies();
  const groups = createGroupTallies((cluster) => toMember(cluster, tallies));
  const housed = new Set<string>();
  const doubts = createDoubts(clock);
  const statuses = createStatusWriters({
    rest,
    caches,
    outcomes,
    tallies,
    groups,
    housed,
    clock,
    log: silentLog(),
  });
  const idle: Controller = {
    name: "idle",
    enqueue: () => undefined,
    enqueueAfter: () => undefined,
    run: () => Promise.resolve(),
  };
  const bundleLooks: ObjectKey[] = [];
  const bundles = { ...idle, enqueue: (key: ObjectKey) => void bundleLooks.push(key) };
  const access = {
    users: () => [],
    of: () => Promise.reject(new Error()),
    forget: () => undefined,
  };
  return {
    clock,
    rest,
    caches,
    outcomes,
    housed,
    doubts,
    statuses,
    /** Bundles that were to be looked at at once, in order. */
    bundleLooks,
    /** It is elected: gives what ends its reacting. */
    lead: () =>
      reactToChanges(
        { caches, objects: { onChange: () => () => undefined }, clock },
        {
          outcomes,
          groups,
          housed,
          statuses,
          access,
          bundleAccess: access,
          count: countStore(caches.deployments.store, tallies, isOfflineIn(caches.clusters.store)),
          doubts,
        },
        { helmOps: idle, bundles, clusters: idle, tombstones: idle, contents: idle },
      ),
  };
}
