/** `flotilla cluster revoke`: asks the hub to reject the certificate of a cluster's agent from now on. */

import { clusters } from "@flotilla/shared/api";
import { revokedAtAnnotation } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { connectKube } from "@flotilla/shared/kube/client";
import { formatTime } from "@flotilla/shared/time";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { hubKubeconfig } from "../fleet/index.ts";
import type { TargetOptions } from "./reconcile.ts";
import { clusterKinds, parseTarget } from "./target.ts";

/** Throws CLUSTER_NOT_FOUND and TARGET_INVALID. */
export async function revoke(options: TargetOptions, config: CliConfig): Promise<void> {
  const { namespace } = options;
  const { name } = parseTarget(options.target, clusterKinds);
  const rest = connectKube(await hubKubeconfig(options, config));
  try {
    if ((await rest.get(clusters, { namespace, name })) === undefined)
      throw new AppError(
        cliErrors.CLUSTER_NOT_FOUND,
        `revoke Cluster ${namespace}/${name}: not found on ${rest.server}; check -n, --kubeconfig and --context`,
      );
    const body = { metadata: { annotations: { [revokedAtAnnotation]: now() } } };
    await rest.patch(clusters, { namespace, name }, { type: "merge", body });
    process.stdout.write(
      `Cluster ${namespace}/${name} revoked: the hub closes the connection of its agent and rejects its certificate; installed releases stay\n` +
        "To register the cluster again, create a new ClusterRegistrationToken and copy the data of its Secret into the agent's bootstrap Secret\n",
    );
  } finally {
    await rest.close();
  }
}

/** RFC 3339 to the second, the precision of the creationTimestamp that the hub compares it with. */
function now(): string {
  return formatTime(Date.now());
}
