/**
 * What changes where Bundles may be deployed: their BundleNamespaceMappings, and the labels of the Namespaces that these select. A
 * Namespace concerns Bundles only where a mapping begins or ceases to select it, and it has Clusters.
 */
import { byNamespace } from "@flotilla/shared/kube/cache";
import { isSpecChange, type Watch, watch } from "@flotilla/shared/kube/controller";
import { keyOf, refOf } from "@flotilla/shared/kube/objects";
import type { ControllerDeps } from "../../base/index.ts";
import { mapsNamespace } from "../../rules/index.ts";

type Caches = Pick<ControllerDeps["caches"], "bundles" | "clusters" | "mappings" | "workspaces">;

/** They deliver keys of Bundles. */
export function mappingWatches({
  bundles,
  clusters,
  mappings,
  workspaces,
}: Caches): readonly Watch[] {
  return [
    watch(mappings, {
      predicate: isSpecChange,
      toKeys: ({ key }) =>
        bundles.store.byIndex(byNamespace, refOf(key).namespace ?? "").map(keyOf),
      replay: false,
    }),
    watch(workspaces, {
      predicate: isSpecChange,
      toKeys({ key, before, after }) {
        if (clusters.store.byIndex(byNamespace, refOf(key).name).length === 0) return [];
        const concerned = mappings.store
          .list()
          .filter((each) => mapsNamespace(each, before) !== mapsNamespace(each, after))
          .map(({ metadata }) => metadata.namespace ?? "");
        return [...new Set(concerned)].flatMap((each) =>
          bundles.store.byIndex(byNamespace, each).map(keyOf),
        );
      },
      replay: false,
    }),
  ];
}
