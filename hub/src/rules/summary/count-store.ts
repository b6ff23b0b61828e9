/**
 * Keeps the aggregates equal to a store of BundleDeployments, our own writes included: a status that is computed
 * between a write and its watch event must not count the state before the write.
 */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { bundleKeyOf } from "../../base/index.ts";
import { type Counted, type DeploymentAggregates, toCounted } from "./bundle-aggregate.ts";

/** Where a BundleDeployment is: one of a cluster that does not exist is deleted with the namespace of the cluster. */
export type ClusterPresence = "connected" | "offline" | "deleted";

/** What was counted last. */
interface Seen {
  readonly deployment: BundleDeployment;
  readonly presence: ClusterPresence;
  /** Undefined for one of a deleted cluster: nobody can reach what it stands for, and its namespace may be there for minutes. */
  readonly counted: Counted | undefined;
}

/**
 * Call the result with the key of each BundleDeployment that was written or has changed, or whose cluster was created or
 * deleted, has connected or disconnected. Level-triggered.
 */
export function countStore(
  store: Store<BundleDeployment>,
  aggregates: DeploymentAggregates,
  presenceIn: (deployment: BundleDeployment) => ClusterPresence,
): (key: ObjectKey) => void {
  const seen = new Map<ObjectKey, Seen>();
  return (key) => {
    const before = seen.get(key);
    const deployment = store.get(key);
    const presence = deployment && presenceIn(deployment);
    if (before?.deployment === deployment && before?.presence === presence) return;
    const after = deployment &&
      presence && { deployment, presence, counted: count(deployment, presence) };
    if (before?.counted !== undefined || after?.counted !== undefined)
      aggregates.change(before?.counted, after?.counted);
    if (before?.presence === "deleted") aggregates.orphaned(bundleKeyOf(before.deployment), -1);
    if (after?.presence === "deleted") aggregates.orphaned(bundleKeyOf(after.deployment), 1);
    if (after === undefined) seen.delete(key);
    else seen.set(key, after);
  };
}

function count(deployment: BundleDeployment, presence: ClusterPresence): Counted | undefined {
  return presence === "deleted" ? undefined : toCounted(deployment, presence === "offline");
}
