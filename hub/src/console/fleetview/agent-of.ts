/** The agent of a cluster, as the page of the cluster shows it. Pure. */
import type { Cluster } from "@flotilla/shared/api";
import { versionSkew } from "@flotilla/shared/buildinfo";
import type { ClusterDetail } from "@flotilla/shared/dashboard";
import { presenceOf, revocationOf } from "../../base/index.ts";

/** `hubVersion`: a skew between the two is said. */
export function agentOf(cluster: Cluster, hubVersion: string): ClusterDetail["agent"] {
  const { agent } = cluster.status ?? {};
  const skew = agent?.version ? versionSkew("agent", agent.version, hubVersion) : undefined;
  const revocation = revocationOf(cluster);
  return {
    connected: presenceOf(cluster) === "Connected",
    ...(agent?.version && { version: agent.version }),
    ...(skew !== undefined && "message" in skew && { skew: skew.message }),
    ...(agent?.lastSeen && { since: agent.lastSeen }),
    ...(agent?.namespace && { namespace: agent.namespace }),
    ...(agent?.replica && { replica: agent.replica }),
    ...(agent?.certificateExpiresAt && { certificateExpiresAt: agent.certificateExpiresAt }),
    ...(revocation !== undefined && { revokedAt: revocation.text }),
  };
}
