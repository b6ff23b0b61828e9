/** `flotilla cluster revoke`: takes its key away from a cluster, so that it is not let in any more. */
import { revokedAtAnnotation } from "@flotilla/shared/api/names.ts";
import { clusters } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/hub-kubeconfig.ts";

export interface RevokeOptions extends HubOptions {
  readonly name: string;
  readonly namespace: string;
}

export async function revoke(options: RevokeOptions, config: CliConfig): Promise<void> {
  const { namespace, name } = options;
  const rest = connectKube(await hubKubeconfig(options, config));
  try {
    if ((await rest.get(clusters, { namespace, name })) === undefined)
      throw new AppError(
        cliErrors.CLUSTER_NOT_FOUND,
        `there is no Cluster ${namespace}/${name} on ${rest.server}, so nothing was revoked`,
      );
    const body = { metadata: { annotations: { [revokedAtAnnotation]: now() } } };
    await rest.patch(clusters, { namespace, name }, { type: "merge", body });
    process.stdout.write(
      `Cluster ${namespace}/${name} was revoked: its agent's connection ends, its key opens no door any more, and what is installed stays\n` +
        "to have it back, make a ClusterRegistrationToken from now on and put the content of its Secret into the agent's bootstrap Secret\n",
    );
  } finally {
    await rest.close();
  }
}

/** To the second, as Kubernetes tells the age of the tokens that it is compared with. */
function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}
