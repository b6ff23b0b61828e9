/**
 * Whether a deployment that is being deleted is to be uninstalled, or only goes with its Cluster.
 *
 * What goes with a Cluster looks the same as what is withdrawn, and the two are told about on different watches, so that a
 * replica may hear of the deployment before it hears of the Cluster. The API server knows: whatever goes with its Cluster
 * goes after it. So once a deployment was seen to go, the Cluster is read, once for all that are seen by then.
 */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { clusters } from "@flotilla/shared/api/resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { mayWithdraw } from "../cluster/deletion.ts";
import type { ClusterRef } from "./report-sink.ts";

export interface WithdrawalsDeps {
  readonly rest: Pick<KubeRest, "get">;
  readonly cluster: ClusterRef;
  /** Those of the cluster that are known of, those on their way out included. */
  readonly allWanted: () => readonly BundleDeployment[];
}

export interface Withdrawals {
  /** Of the deployment with this UID, which was seen to be on its way out. Rejects when it cannot be known now. */
  mayBeSent(uid: string): Promise<boolean>;
}

export function createWithdrawals({ rest, cluster, allWanted }: WithdrawalsDeps): Withdrawals {
  /** UIDs of those that were on their way out when the Cluster was seen to want that. */
  let confirmed: ReadonlySet<string | undefined> = new Set();

  return {
    async mayBeSent(uid) {
      if (confirmed.has(uid)) return true;
      const going = allWanted()
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.uid);
      const { namespace, name } = cluster;
      if (!mayWithdraw(await rest.get(clusters, { namespace, name }), cluster.uid)) return false;
      confirmed = new Set([...going, uid]);
      return true;
    },
  };
}
