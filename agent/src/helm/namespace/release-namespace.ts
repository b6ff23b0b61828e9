/** The namespace of a release: created for a first install, and given the labels and annotations of its deployment. */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { namespaces, type ObjectMeta } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import { helmFieldManager, ownershipMarks } from "../cli/ownership.ts";
import type { ReleaseKey } from "../cli/release-record.ts";
import type { CreatedNamespace } from "./delete-namespace.ts";
import { metadataPatch } from "./namespace-metadata.ts";

/**
 * Creates the namespace as `helm --create-namespace` does. Helm itself would read the API server's whole OpenAPI document for that,
 * which costs more than the rest of an install (docs/adr/0006). It has Helm's marks of the release, so that a chart that contains
 * this namespace can be installed (docs/adr/0042). Returns the namespace if it did not exist. Throws NAMESPACE_FORBIDDEN if it does
 * not exist and the account may not create it.
 */
export async function ensureNamespace(
  client: Pick<ImpersonatedClient, "subject" | "rest" | "watch">,
  release: ReleaseKey,
  signal: AbortSignal,
): Promise<CreatedNamespace | undefined> {
  const { namespace: name } = release;
  const marks = ownershipMarks(release);
  try {
    const created = { metadata: { name, ...marks, labels: { name, ...marks.labels } } };
    // Helm takes over the fields of its own manager.
    const options = { fieldManager: helmFieldManager, signal };
    const { metadata } = await client.rest.create(namespaces, created, options);
    return { name, uid: metadata.uid ?? "", isMarked: true };
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

/**
 * Gives Helm's marks to a namespace that an earlier version of the agent has created for the release. One that was deleted since,
 * or that others have marked, stays as it is.
 */
export async function markNamespace(
  { rest }: Pick<ImpersonatedClient, "rest">,
  { name, uid }: CreatedNamespace,
  release: ReleaseKey,
  signal: AbortSignal,
): Promise<void> {
  const marks = ownershipMarks(release);
  try {
    const found = await rest.get(namespaces, { name }, { signal });
    if (found?.metadata.uid !== uid || isMarked(found.metadata, marks)) return;
    const { resourceVersion } = found.metadata;
    const body = {
      metadata: { ...marks, ...(resourceVersion !== undefined && { resourceVersion }) },
    };
    const options = { fieldManager: helmFieldManager, signal };
    await rest.patch(namespaces, { name }, { type: "merge", body }, options);
  } catch (thrown) {
    // Without the right Helm reports what is missing, and only for a chart that contains the namespace.
    if (!isForbidden(thrown) && !isConflict(thrown) && !isNotFound(thrown)) throw thrown;
  }
}

/** With any of the marks, also of another release. */
function isMarked(
  { labels = {}, annotations = {} }: ObjectMeta,
  marks: ReturnType<typeof ownershipMarks>,
): boolean {
  return (
    Object.keys(marks.labels).some((key) => labels[key] !== undefined) ||
    Object.keys(marks.annotations).some((key) => annotations[key] !== undefined)
  );
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
