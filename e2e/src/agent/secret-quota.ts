/** A quota that rejects further Secrets in the agent's namespace. */
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

/** A quota takes effect, and ends, some moments after it is written or deleted. */
export async function waitUntilSecretsAre(
  rest: KubeRest,
  desired: "accepted" | "rejected",
): Promise<void> {
  const probe = { metadata: { namespace: agentNamespace, name: "probe" } };
  for (let found = ""; found !== desired; )
    found = await rest.create(secrets, probe, { dryRun: true }).then(
      () => "accepted",
      () => "rejected",
    );
}
