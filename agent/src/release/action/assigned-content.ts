/** The content of an assignment, and what follows from it for several actions. */
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import type { ImpersonatedClient } from "../../base/index.ts";
import type { CrdPolicy } from "../../helm/index.ts";
import type { Assignment } from "../../state/index.ts";

export async function contentOf({ deploymentId, content }: Assignment): Promise<DeploymentContent> {
  return await unpackContent({ deploymentId, bytes: content });
}

export function crdPolicy(
  { deleteCRDResources }: Pick<DeploymentContent, "deleteCRDResources">,
  client: ImpersonatedClient,
  signal: AbortSignal,
): CrdPolicy {
  return { keep: deleteCRDResources !== true, client, signal };
}
