/** Writes what is the replicas' in the status of a Cluster, always from the newest that there is. */
import type { Cluster, ClusterStatus } from "@flotilla/shared/api/cluster.ts";
import { clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isConflict } from "@flotilla/shared/kube/client/status-error.ts";
import { type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import { presenceErrors } from "./errors.ts";

export type AgentFields = Partial<Pick<ClusterStatus, "agent" | "orphans">>;

export interface WriteClusterDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
}

export interface WriteClusterOptions {
  readonly signal?: AbortSignal;
  /** Decide on what the API server has, since the cache may still show a write of our own over it. */
  readonly fromServer?: boolean;
}

/** The roll-up writes the same status; each of its writes may cost one of ours. */
const attempts = 20;

/**
 * By compare and swap: `change` decides on each version that a write was refused for, so that nothing is ever written over
 * what somebody else has written since. `undefined` changes nothing. Gives the Cluster as it is then.
 */
export async function writeCluster(
  { rest, clusters }: WriteClusterDeps,
  key: ObjectKey,
  change: (cluster: Cluster) => AgentFields | undefined,
  { signal, fromServer = false }: WriteClusterOptions = {},
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
  const message = `the status of Cluster ${key} was changed by others ${attempts} times while it was being written`;
  throw new AppError(presenceErrors.CLUSTER_BUSY, message);
}
