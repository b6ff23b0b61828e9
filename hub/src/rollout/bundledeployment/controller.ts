/** The controller of BundleDeployments that are being deleted: what it watches, and how a change maps to keys. */
import { isManagedElsewhere } from "@flotilla/shared/api";
import { byNamespace } from "@flotilla/shared/kube/cache";
import { type Controller, createController, ownKey, watch } from "@flotilla/shared/kube/controller";
import { keyOf, refOf } from "@flotilla/shared/kube/objects";
import { type ControllerDeps, clusterNamespaceNames } from "../../base/index.ts";
import { tombstoneReconciler } from "./reconcile.ts";

export function createTombstoneController(deps: ControllerDeps): Controller {
  const { clusters, deployments } = deps.caches;
  return createController({
    name: "tombstone",
    workers: 16,
    reconcile: tombstoneReconciler({
      rest: deps.rest,
      deployments: deployments.store,
      clusters: clusters.store,
    }),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      watch(deployments, {
        predicate: ({ after }) => after?.metadata.deletionTimestamp !== undefined,
        toKeys: ownKey,
      }),
      // The agent of a removed Cluster confirms nothing; one that another system managed may have had none.
      watch(clusters, {
        predicate: ({ before, after }) =>
          after === undefined ||
          (before !== undefined && isManagedElsewhere(before) && !isManagedElsewhere(after)),
        toKeys: ({ key }) => {
          const { namespace = "", name } = refOf(key);
          return clusterNamespaceNames(namespace, name)
            .flatMap((each) => deployments.store.byIndex(byNamespace, each))
            .map(keyOf);
        },
        replay: false,
      }),
    ],
  });
}
