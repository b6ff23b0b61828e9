/** Gives the release's namespace the labels and annotations that its deployment asks for. Level-triggered, without Helm. */
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { isForbidden } from "@flotilla/shared/kube/client/status-error.ts";
import { namespaces } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Actor } from "../acting/actors.ts";
import { agentErrors } from "../errors.ts";
import { metadataPatch } from "./namespace-metadata.ts";

type Wanted = Pick<DeploymentContent, "namespace" | "namespaceLabels" | "namespaceAnnotations">;

/** Costs nothing where nothing is asked for. Throws NAMESPACE_REFUSED. */
export async function describeNamespace(
  actor: Actor,
  { namespace: name, namespaceLabels: labels, namespaceAnnotations: annotations }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  if (labels === undefined && annotations === undefined) return;
  try {
    const found = await actor.rest.get(namespaces, { name }, { signal });
    if (found === undefined) return;
    const metadata = metadataPatch(found.metadata, { labels, annotations });
    if (metadata === undefined) return;
    await actor.rest.patch(namespaces, { name }, { type: "merge", body: { metadata } }, { signal });
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    throw new AppError(
      agentErrors.NAMESPACE_REFUSED,
      `set the labels and annotations of namespace ${name} as ${actor.title}, which needs the rights to get and to patch that namespace: ${messageOf(thrown)}; the release itself is installed`,
      { cause: thrown },
    );
  }
}
