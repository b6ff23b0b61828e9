/** The hub's connections to its API server. */
import { buildVersion } from "@flotilla/shared/buildinfo/build-version.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/client/kubeconfig.ts";
import type { KubeConnection } from "@flotilla/shared/kube/client/rest.ts";
import type { HubConfig } from "./config.ts";

export const userAgent = `flotilla-hub/${buildVersion}`;

/** One for the leader's Lease, one for the replica's. */
const leaseConnections = 2;

export interface HubConnections {
  readonly rest: KubeConnection;
  /** Separate, so that renewals of Leases do not wait behind other requests. */
  readonly leaseRest: KubeConnection;
  close(): Promise<void>;
}

export async function connectHub(
  config: Pick<HubConfig, "kubeconfig" | "context">,
  env: NodeJS.ProcessEnv,
): Promise<HubConnections> {
  const kubeconfig = await loadKubeconfig({
    ...(config.kubeconfig !== undefined && { path: config.kubeconfig }),
    ...(config.context !== undefined && { context: config.context }),
    env,
  });
  const rest = connectKube(kubeconfig, { userAgent });
  const leaseRest = connectKube(kubeconfig, { userAgent, connections: leaseConnections });
  return {
    rest,
    leaseRest,
    close: async () => {
      await Promise.all([rest.close(), leaseRest.close()]);
    },
  };
}
