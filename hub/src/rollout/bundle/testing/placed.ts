/** Where the Bundle of tests is placed. */
import type { Cluster } from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { keyOf } from "@flotilla/shared/kube/objects";
import { aBundle, digestA, workspace } from "../../../testing/index.ts";
import type { Placement } from "../place.ts";

export function placed(
  cluster: Cluster,
  deploymentId = digestA,
  referencedObjects: readonly string[] = [],
): Placement {
  const namespace = clusterNamespaceName(workspace, cluster.metadata.name);
  const { name } = aBundle().metadata;
  const key = keyOf(cluster);
  return { cluster, key, name, namespace, deploymentId, referencedObjects, isSuspended: false };
}
