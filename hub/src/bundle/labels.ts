/** What the deployments of a Bundle are known by, in whatever cluster: for people, and for those that depend on it. Pure. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import { bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names.ts";

/** As in Fleet: the Bundle's own labels but for those of kubectl and Rancher, its Fleet labels, and which it is. */
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
