/** The action `none`. */
import { applyNamespaceMetadata, type ReleaseRecord } from "../../helm/index.ts";
import { crdPolicy } from "./assigned-content.ts";
import type { DeployPass, InSync } from "./deploy-pass.ts";
import { disownChanged, inSync } from "./in-sync.ts";
import type { DesiredRelease, Tools } from "./tools.ts";

/** The release is as desired: completes what follows its installation. */
export async function finish(
  tools: Tools,
  record: ReleaseRecord,
  release: DesiredRelease,
  { signal }: DeployPass,
): Promise<InSync | undefined> {
  const { crds, downstream, inventory, attempts, recordsNamespace } = tools;
  const { content, desired, client, inputs } = release;
  const owner = desired.owner.id;
  if (await disownChanged(tools, record)) return undefined;
  await attempts.setStoppedAt(owner, undefined);
  await attempts.endRun(owner);
  await attempts.setFailedAttempts(owner, undefined);
  await attempts.setAttempt(owner, undefined);
  await inventory.ensureStored(owner);
  const { namespace } = desired;
  await downstream.apply(inputs.downstream, { owner, namespace, client, signal });
  await applyNamespaceMetadata(client, content, signal);
  await crds.reconcile(record, crdPolicy(content, client, signal));
  await recordsNamespace.clear({ content, client, signal });
  return await inSync(tools, release, record);
}
