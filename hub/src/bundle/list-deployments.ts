/** The BundleDeployments of a Bundle, as the API server has them. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names.ts";
import { bundleDeployments } from "@flotilla/shared/api/resources.ts";
import { listAll } from "@flotilla/shared/kube/client/list-all.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";

/** What Kubernetes takes as the value of a label. */
const longestLabelValue = 63;

/** In whatever namespaces they are. A Bundle whose name is too long for a label is refused, and has none. */
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
