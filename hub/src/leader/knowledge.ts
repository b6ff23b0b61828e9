/** What the leader has found out, kept in memory and made again by whoever leads next. */
import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import { toMember } from "../clustergroup/status.ts";
import { isOfflineIn } from "../clusterstate/presence.ts";
import { type ChartAccess, createChartAccess } from "../resolve/chart-access.ts";
import { createDoubts, type Doubts } from "../resolve/doubts.ts";
import { createOutcomes, type Outcomes } from "../status/intent.ts";
import { createTallies } from "../summary/aggregate.ts";
import { countStore } from "../summary/count-store.ts";
import { createGroupTallies, type GroupTallies } from "../summary/group-aggregate.ts";
import type { ControlDeps } from "./control-deps.ts";
import { createStatusWriters, type StatusWriters } from "./status-writers.ts";

export interface Knowledge {
  readonly outcomes: Outcomes;
  /** Counts a BundleDeployment as it is now. */
  readonly count: (key: ObjectKey) => void;
  readonly groups: GroupTallies;
  /** Clusters that have their namespace. */
  readonly housed: Set<ObjectKey>;
  readonly statuses: StatusWriters;
  readonly doubts: Doubts;
  /** Of HelmOps. */
  readonly access: ChartAccess;
  /** Of Bundles without a HelmOp: one may have the key of a HelmOp that leaves it alone. */
  readonly bundleAccess: ChartAccess;
}

export function createKnowledge(deps: ControlDeps): Knowledge {
  const { caches, clock, log, objects } = deps;
  const outcomes = createOutcomes();
  const tallies = createTallies();
  const groups = createGroupTallies((cluster) => toMember(cluster, tallies));
  const housed = new Set<ObjectKey>();
  return {
    outcomes,
    count: countStore(caches.deployments.store, tallies, isOfflineIn(caches.clusters.store)),
    groups,
    housed,
    statuses: createStatusWriters({ ...deps, outcomes, tallies, groups, housed }),
    doubts: createDoubts(clock),
    access: createChartAccess({ objects, log }),
    bundleAccess: createChartAccess({ objects, log }),
  };
}
