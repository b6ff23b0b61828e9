/** The fields of a Cluster's status that record its agent: written by the replica that serves it, or by the leader for a dead replica. */

import {
  type Cluster,
  type ClusterAgent,
  type ClusterStatus,
  clusters as clusterResource,
} from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { isConflict, type KubeRest } from "@flotilla/shared/kube/client";
import { type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { formatTime, parseTime } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";

export type AgentFields = Partial<Pick<ClusterStatus, "agent" | "orphans">>;

export interface AgentStatusDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
}

export interface AgentStatusOptions {
  readonly signal?: AbortSignal;
  /** Read from the API server first, because the cache may still show a write of our own. */
  readonly fromServer?: boolean;
}

/** The status controller writes the same object; each of its writes may cause a conflict here. */
const attempts = 20;

/**
 * Compare and swap: after a conflict `change` decides again on the newest version. `undefined` writes nothing. Returns the
 * Cluster as it is then; `undefined` when it does not exist. Throws CLUSTER_CONFLICT.
 */
export async function writeAgentStatus(
  { rest, clusters }: AgentStatusDeps,
  key: ObjectKey,
  change: (cluster: Cluster) => AgentFields | undefined,
  { signal, fromServer = false }: AgentStatusOptions = {},
): Promise<Cluster | undefined> {
  let cluster = fromServer ? undefined : clusters.get(key);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    cluster ??= await rest.get(clusterResource, refOf(key), signal && { signal });
    if (cluster === undefined) return undefined;
    const changed = change(cluster);
    if (changed === undefined) return cluster;
    try {
      const written = await rest.replace(
        clusterResource,
        { ...cluster, status: { ...cluster.status, ...changed } },
        { subresource: "status", ...(signal && { signal }) },
      );
      clusters.wrote(written);
      return written;
    } catch (thrown) {
      if (!isConflict(thrown)) throw thrown;
      cluster = undefined;
    }
  }
  const message = `cannot write the status of Cluster ${key}: ${attempts} conflicts in a row; retrying`;
  throw new AppError(hubErrors.CLUSTER_CONFLICT, message);
}

/** When an agent that is offline was last seen: when its replica was, but not before it connected. */
export function lastSeen(agent: ClusterAgent, replicaSeen: string): string {
  const last = parseTime(replicaSeen);
  if (last === undefined) return agent.lastSeen ?? "";
  return formatTime(Math.max(parseTime(agent.lastSeen ?? undefined) ?? last, last));
}
