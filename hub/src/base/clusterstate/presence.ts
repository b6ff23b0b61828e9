/** Whether the agent of a Cluster is connected, from the Cluster's status. Pure. */
import type { BundleDeployment, Cluster } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import { clusterKeyOf } from "../cache/keys.ts";

/** `WaitCheckIn`: no agent has ever connected. */
export type AgentPresence = "WaitCheckIn" | "Offline" | "Connected";

export function presenceOf({ status }: Cluster): AgentPresence {
  if (status?.agent?.epoch === undefined) return "WaitCheckIn";
  return status.agent.connected === true ? "Connected" : "Offline";
}

/** When the agent of an offline Cluster was last connected, RFC 3339; "" for every other Cluster. */
export function offlineSince(cluster: Cluster | undefined): string {
  return cluster !== undefined && presenceOf(cluster) === "Offline"
    ? (cluster.status?.agent?.lastSeen ?? "")
    : "";
}

/** Whether the Cluster of a BundleDeployment has no connected agent. */
export function offlineCheck(clusters: Store<Cluster>): (deployment: BundleDeployment) => boolean {
  return (deployment) => {
    const cluster = clusters.get(clusterKeyOf(deployment));
    return cluster !== undefined && presenceOf(cluster) !== "Connected";
  };
}
