/**
 * The namespace of a first install, made as `helm --create-namespace` makes it. Helm itself would read the API server's
 * whole OpenAPI document for that, which costs more than the rest of an install (docs/adr/0006).
 */
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isAlreadyExists, isForbidden } from "@flotilla/shared/kube/client/status-error.ts";
import { namespaces } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Actor } from "../acting/actors.ts";
import { agentErrors } from "../errors.ts";

export interface NamespaceMakers {
  readonly actor: Actor;
  /** The agent's own, which sees whether a namespace is there that the actor may neither make nor see. */
  readonly own: KubeRest;
}

/** Throws NAMESPACE_REFUSED where the namespace is not there and the actor may not make it. */
export async function ensureNamespace(
  { actor, own }: NamespaceMakers,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await actor.rest.create(namespaces, { metadata: { name, labels: { name } } }, { signal });
  } catch (thrown) {
    if (isAlreadyExists(thrown)) return;
    if (!isForbidden(thrown)) throw thrown;
    // Whoever may not make namespaces may well use one: what it may do there, Helm finds out.
    if ((await own.get(namespaces, { name }, { signal })) !== undefined) return;
    throw new AppError(
      agentErrors.NAMESPACE_REFUSED,
      `make namespace ${name} as ${actor.title}, which may not create namespaces: ${messageOf(thrown)}; make it beforehand, or give that right`,
      { cause: thrown },
    );
  }
}
