/**
 * Decides whether a deployment that is being deleted is to be uninstalled, or is only deleted together with its
 * Cluster. Both cases have the same fields, and arrive on different watches: the deletion of the deployment may be seen
 * before the Cluster's. On the API server the Cluster is deleted first. So the Cluster is read after the deployment was
 * seen to be deleted, once for all deployments that are seen by then.
 */
import { type BundleDeployment, clusters } from "@flotilla/shared/api";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { mayWithdraw } from "../../base/index.ts";
import type { ClusterRef } from "../identity/cluster-identity.ts";

export interface WithdrawalsDeps {
  readonly rest: Pick<KubeRest, "get">;
  readonly cluster: ClusterRef;
  /** All BundleDeployments of the cluster, those being deleted included. */
  readonly deployments: () => readonly BundleDeployment[];
}

export type Withdrawals = ReturnType<typeof createWithdrawals>;

export function createWithdrawals({ rest, cluster, deployments }: WithdrawalsDeps) {
  /** UIDs of those that were being deleted when the Cluster was last read and allowed withdrawals. */
  let confirmed: ReadonlySet<string | undefined> = new Set();

  return {
    /** For the deployment with this UID, which was seen to be deleted. Rejects when the Cluster cannot be read. */
    async mayBeSent(uid: string): Promise<boolean> {
      if (confirmed.has(uid)) return true;
      const deleted = deployments()
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.uid);
      const { namespace, name } = cluster;
      if (!mayWithdraw(await rest.get(clusters, { namespace, name }), cluster.uid)) return false;
      confirmed = new Set([...deleted, uid]);
      return true;
    },
  };
}
