/** The namespace of a release: created for a first install, and given the labels and annotations of its deployment. */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isAlreadyExists, isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import { namespaces } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../errors/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import type { CreatedNamespace } from "./delete-namespace.ts";
import { metadataPatch } from "./namespace-metadata.ts";

/**
 * Creates the namespace as `helm --create-namespace` does. Helm itself would read the API server's whole OpenAPI document for
 * that, which costs more than the rest of an install (docs/adr/0006). Returns the namespace if it did not exist. Throws
 * NAMESPACE_FORBIDDEN if it does not exist and the account may not create it.
 */
export async function ensureNamespace(
  client: Pick<ImpersonatedClient, "subject" | "rest" | "watch">,
  name: string,
  signal: AbortSignal,
): Promise<CreatedNamespace | undefined> {
  try {
    const created = { metadata: { name, labels: { name } } };
    const { metadata } = await client.rest.create(namespaces, created, { signal });
    return { name, uid: metadata.uid ?? "" };
  } catch (thrown) {
    if (isAlreadyExists(thrown)) return undefined;
    if (!isForbidden(thrown)) throw thrown;
    // Helm reports if the account may not use an existing namespace.
    if (await mayExist(client.watch.rest, name, signal)) return undefined;
    throw new AppError(
      agentErrors.NAMESPACE_FORBIDDEN,
      `create namespace ${name} as ${client.subject}, which may not create namespaces: ${messageOf(thrown)}; create it beforehand, or grant the right`,
      { cause: thrown },
    );
  }
}

/** Also if nobody whom the agent can ask may read it. */
async function mayExist(rest: KubeRest, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await rest.get(namespaces, { name }, { signal })) !== undefined;
  } catch (thrown) {
    if (isForbidden(thrown)) return true;
    throw thrown;
  }
}

/** Level-triggered. Sends no request without desired labels and annotations. Throws NAMESPACE_FORBIDDEN. */
export async function applyNamespaceMetadata(
  client: ImpersonatedClient,
  {
    namespace: name,
    namespaceLabels: labels,
    namespaceAnnotations: annotations,
  }: Pick<DeploymentContent, "namespace" | "namespaceLabels" | "namespaceAnnotations">,
  signal: AbortSignal,
): Promise<void> {
  if (labels === undefined && annotations === undefined) return;
  const { rest } = client;
  try {
    const found = await rest.get(namespaces, { name }, { signal });
    if (found === undefined) return;
    const metadata = metadataPatch(found.metadata, { labels, annotations });
    if (metadata === undefined) return;
    await rest.patch(namespaces, { name }, { type: "merge", body: { metadata } }, { signal });
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    throw new AppError(
      agentErrors.NAMESPACE_FORBIDDEN,
      `set the labels and annotations of namespace ${name} as ${client.subject}, which needs the rights to get and patch it: ${messageOf(thrown)}; the release itself is installed`,
      { cause: thrown },
    );
  }
}
