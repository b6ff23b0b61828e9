/** Lists the BundleDeployments of a Bundle from the API server. */
import { type Bundle, type BundleDeployment, bundleDeployments } from "@flotilla/shared/api";
import { bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names";
import { type KubeRest, listAll } from "@flotilla/shared/kube/client";

/** Characters of a label value. */
const longestLabelValue = 63;

/** In all namespaces. A Bundle whose name is too long for a label is not accepted, and has none. */
export async function listDeployments(
  rest: KubeRest,
  { metadata: { name, namespace = "" } }: Bundle,
  signal: AbortSignal,
): Promise<readonly BundleDeployment[]> {
  if (Math.max(name.length, namespace.length) > longestLabelValue) return [];
  const { objects } = await listAll({
    rest,
    resource: bundleDeployments,
    selection: { labelSelector: `${bundleNameLabel}=${name},${bundleNamespaceLabel}=${namespace}` },
    transform: (deployment) => deployment,
    signal,
  });
  return objects;
}
