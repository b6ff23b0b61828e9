/** Checks that a release may be installed in its namespace. */
import { type LabelSelector, selects } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { namespaces } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";

/** Throws NAMESPACE_NOT_ALLOWED unless the namespace exists and the selector matches its labels, as in Fleet. */
export async function checkNamespace(
  { watch }: Pick<ImpersonatedClient, "watch">,
  name: string,
  allowed: LabelSelector | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (allowed === undefined) return;
  const found = await watch.rest.get(namespaces, { name }, { signal });
  if (found !== undefined && selects(allowed, found.metadata.labels ?? {})) return;
  const why =
    found === undefined
      ? "it does not exist"
      : "the selector does not match the namespace's labels";
  throw new AppError(
    agentErrors.NAMESPACE_NOT_ALLOWED,
    `allowedTargetNamespaceSelector does not allow namespace ${name}: ${why}; nothing was changed`,
  );
}
