/** The labels of a Bundle's deployments, by which people and `dependsOn` select them. Pure. */
import type { Bundle } from "@flotilla/shared/api";
import { bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names";

/** As in Fleet: the Bundle's own labels without kubectl's and Rancher's, its Fleet labels, and its name. */
export function bundleLabels({ metadata }: Bundle): Readonly<Record<string, string>> {
  const inherited = Object.entries(metadata.labels ?? {}).filter(
    ([name]) =>
      name.startsWith("fleet.cattle.io/") ||
      !/(^|\.)(kubectl\.kubernetes\.io\/|.*cattle\.io(\/|$))/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    [bundleNameLabel]: metadata.name,
    [bundleNamespaceLabel]: metadata.namespace ?? "",
  };
}
