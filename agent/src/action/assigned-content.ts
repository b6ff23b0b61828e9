/** The content of an assignment, and what follows from it for several actions. */
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import type { Assignment } from "../assignment/index.ts";
import type { CrdPolicy } from "../crds/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";

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
