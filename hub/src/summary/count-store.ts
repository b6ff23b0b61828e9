/**
 * Keeps the aggregates equal to a store of BundleDeployments, our own writes included: a status that is computed
 * between a write and its watch event must not count the state before the write.
 */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { type Counted, type DeploymentAggregates, toCounted } from "./bundle-aggregate.ts";

/**
 * Call the result with the key of each BundleDeployment that was written or has changed, or whose cluster has connected
 * or disconnected. Level-triggered.
 */
export function countStore(
  store: Store<BundleDeployment>,
  aggregates: DeploymentAggregates,
  isOffline: (deployment: BundleDeployment) => boolean,
): (key: ObjectKey) => void {
  /** What was counted last. */
  const counted = new Map<ObjectKey, Counted>();
  return (key) => {
    const before = counted.get(key);
    const deployment = store.get(key);
    const isOfflineNow = deployment !== undefined && isOffline(deployment);
    if (before?.deployment === deployment && before?.isOffline === isOfflineNow) return;
    const after = deployment && toCounted(deployment, isOfflineNow);
    aggregates.change(before, after);
    if (after === undefined) counted.delete(key);
    else counted.set(key, after);
  };
}
