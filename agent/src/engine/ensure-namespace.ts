/**
 * The namespace of a first install, made as `helm --create-namespace` makes it. Helm itself would read the API server's
 * whole OpenAPI document for that, which costs more than the rest of an install (docs/adr/0006).
 */
import { namespaces } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/status-error.ts";

export async function ensureNamespace(
  rest: KubeRest,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await rest.create(namespaces, { metadata: { name, labels: { name } } }, { signal });
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
}
