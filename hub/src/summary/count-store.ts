/**
 * Keeps the tallies equal to a store of BundleDeployments, our own writes included: a status that is told between a
 * write and what the watch says of it must not count the BundleDeployment as the one before, which was ready.
 */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import { type Counted, type DeploymentAggregates, toCounted } from "./bundle-aggregate.ts";

/**
 * Gives what is to be called with the key of whatever was written or has changed, or whose cluster has come or gone.
 * Level-triggered.
 */
export function countStore(
  store: Store<BundleDeployment>,
  tallies: DeploymentAggregates,
  isOffline: (deployment: BundleDeployment) => boolean,
): (key: ObjectKey) => void {
  /** As they were counted last. */
  const counted = new Map<ObjectKey, Counted>();
  return (key) => {
    const before = counted.get(key);
    const deployment = store.get(key);
    const isAway = deployment !== undefined && isOffline(deployment);
    if (before?.deployment === deployment && before?.isOffline === isAway) return;
    const after = deployment && toCounted(deployment, isAway);
    tallies.change(before, after);
    if (after === undefined) counted.delete(key);
    else counted.set(key, after);
  };
}
