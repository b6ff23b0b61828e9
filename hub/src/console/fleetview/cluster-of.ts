/** A Cluster in short, as the dashboard shows it. Pure. */
import { type Cluster, isManagedElsewhere } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { type ClusterState, clusterStates, type FleetCluster } from "@flotilla/shared/dashboard";
import { presenceOf } from "../../base/index.ts";
import { countIn, explained } from "../../rules/index.ts";

export function clusterOf(cluster: Cluster): FleetCluster {
  const { metadata, status } = cluster;
  const { summary, agent } = status ?? {};
  const state = stateOf(cluster);
  const ready = findCondition(status?.conditions, "Ready");
  const since = state === "Offline" ? agent?.lastSeen : ready?.lastTransitionTime;
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    state,
    ...explained(ready),
    ...(since && { since }),
    connected: presenceOf(cluster) === "Connected",
    labels: { ...metadata.labels },
    ...(agent?.version && { agentVersion: agent.version }),
    ready: summary?.ready ?? 0,
    desired: summary?.desiredReady ?? 0,
  };
}

function stateOf(cluster: Cluster): ClusterState {
  if (isManagedElsewhere(cluster)) return "Unmanaged";
  const presence = presenceOf(cluster);
  if (presence !== "Connected") return presence;
  const { summary } = cluster.status ?? {};
  return (
    clusterStates.find((state) => summary !== undefined && countIn(summary, state) > 0) ?? "Ready"
  );
}
