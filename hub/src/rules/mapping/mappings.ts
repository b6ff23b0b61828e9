/**
 * The BundleNamespaceMappings of the hub: to the Clusters of which namespaces a Bundle may be deployed, and the other way round. It
 * decides from the stores alone and remembers nothing.
 */
import type { Bundle, BundleNamespaceMapping, Cluster } from "@flotilla/shared/api";
import { byNamespace, type Index, type Store } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { byClusterNamespace, targetedNamespace } from "../../base/index.ts";
import { mappingProblem, mapsBundle, mapsNamespace } from "./judged-mapping.ts";

export interface MappingSources {
  readonly mappings: { readonly store: Pick<Store<BundleNamespaceMapping>, "byIndex" | "list"> };
  /** All Namespaces. */
  readonly workspaces: { readonly store: Pick<Store<KubeObject>, "get" | "list"> };
  readonly bundles: { readonly store: Pick<Store<Bundle>, "byIndex"> };
  readonly clusters: { readonly store: Pick<Store<Cluster>, "byIndex"> };
}

export interface Mappings {
  /**
   * The namespaces of the Clusters that a Bundle may be deployed to, each once: first its own, then those with Clusters that its
   * mappings select, by name.
   */
  namespacesOf(bundle: Bundle): readonly string[];
  /**
   * The Bundles that may be deployed to the Clusters of a namespace, each once. `index`: from which of the Bundles they are taken;
   * by default from all.
   */
  bundlesFor(namespace: string, index?: Index<Bundle>): readonly Bundle[];
  /** Whether a mapping is for the Bundle, whatever namespaces it selects. */
  isMapped(bundle: Bundle): boolean;
  /** The mappings of its namespace that cannot be used, by name: which Bundles and Clusters they were for is not known. */
  invalidFor(bundle: Bundle): readonly string[];
  /** The other namespaces with Clusters that a mapping selects, by name. */
  selectedBy(mapping: BundleNamespaceMapping): readonly string[];
}

export function createMappings({
  mappings,
  workspaces,
  bundles,
  clusters,
}: MappingSources): Mappings {
  function mappingsOf(bundle: Bundle): readonly BundleNamespaceMapping[] {
    if (hasFixedNamespace(bundle)) return [];
    return mappings.store.byIndex(byNamespace, bundle.metadata.namespace ?? "");
  }

  function selectedBy(mapping: BundleNamespaceMapping): readonly string[] {
    const { namespace: own = "" } = mapping.metadata;
    return workspaces.store
      .list()
      .filter((each) => each.metadata.name !== own && mapsNamespace(mapping, each))
      .map(({ metadata }) => metadata.name)
      .filter((name) => clusters.store.byIndex(byNamespace, name).length > 0)
      .toSorted();
  }

  return {
    selectedBy,
    namespacesOf(bundle) {
      const mapped = mappingsOf(bundle).filter((mapping) => mapsBundle(mapping, bundle));
      const others = [...new Set(mapped.flatMap(selectedBy))].toSorted();
      return [targetedNamespace(bundle), ...others];
    },
    bundlesFor(namespace, index = byClusterNamespace) {
      const workspace = workspaces.store.get(namespace);
      const found = new Map<ObjectKey, Bundle>(
        bundles.store.byIndex(index, namespace).map((bundle) => [keyOf(bundle), bundle]),
      );
      for (const mapping of mappings.store.list()) {
        if (!mapsNamespace(mapping, workspace)) continue;
        for (const bundle of bundles.store.byIndex(index, mapping.metadata.namespace ?? ""))
          if (!hasFixedNamespace(bundle) && mapsBundle(mapping, bundle))
            found.set(keyOf(bundle), bundle);
      }
      return [...found.values()];
    },
    isMapped: (bundle) => mappingsOf(bundle).some((mapping) => mapsBundle(mapping, bundle)),
    invalidFor: (bundle) =>
      mappingsOf(bundle)
        .filter((mapping) => mappingProblem(mapping) !== undefined)
        .map(({ metadata }) => metadata.name)
        .toSorted(),
  };
}

/** A HelmRelease without targets goes to the hub's own cluster and nowhere else. */
function hasFixedNamespace({ spec }: Bundle): boolean {
  return spec.helmOpOptions?.origin?.clusterNamespace !== undefined;
}
