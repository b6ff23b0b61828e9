/** A cluster that takes no more Secrets in the agent's namespace. */
import { agentNamespace } from "@flotilla/shared/api/names";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";

export const resourceQuotas: Resource<KubeObject> = {
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
};

/** A quota counts, and ceases to count, some moments after it was written. */
export async function untilSecretsAre(rest: KubeRest, wanted: "taken" | "refused"): Promise<void> {
  const probe = { metadata: { namespace: agentNamespace, name: "probe" } };
  for (let found = ""; found !== wanted; )
    found = await rest.create(secrets, probe, { dryRun: true }).then(
      () => "taken",
      () => "refused",
    );
}
