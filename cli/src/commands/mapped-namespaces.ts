/** The namespaces whose Clusters a Bundle may be deployed to, as far as the user may read what decides it. */
import { mapsBundle, mapsNamespace } from "@flotilla/hub/rules";
import {
  type Bundle,
  type BundleNamespaceMapping,
  type BundleNamespaceMappingStatus,
  bundleNamespaceMappings,
} from "@flotilla/shared/api";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, namespaces } from "@flotilla/shared/kube/objects";

export interface ReachedNamespaces {
  /** First the Bundle's own, then what its BundleNamespaceMappings add, by name. */
  readonly namespaces: readonly string[];
  /** Those that a mapping selects, and whose Policies do not allow the namespace of the Bundle, by name. */
  readonly refused: readonly string[];
  /** How many more refuse it: a mapping names ten, and the others are among `namespaces`. */
  readonly unnamed: number;
  /** Whether there may be more, which the user may not read. */
  readonly isPartial: boolean;
}

/** Reads Namespaces only where a mapping is for the Bundle. */
export async function readReach(
  rest: Pick<KubeRest, "list">,
  bundle: Bundle,
): Promise<ReachedNamespaces> {
  const { namespace: own = "" } = bundle.metadata;
  const mappings = await unlessForbidden(rest.list(bundleNamespaceMappings, { namespace: own }));
  const mapped = mappings?.items.filter((mapping) => mapsBundle(mapping, bundle)) ?? [];
  const all = mapped.length === 0 ? undefined : await unlessForbidden(rest.list(namespaces));
  const isPartial = mappings === undefined || (mapped.length > 0 && all === undefined);
  return { ...reachedNamespaces(own, mapped, all?.items ?? []), isPartial };
}

/** `mappings`: those that are for the Bundle. */
function reachedNamespaces(
  own: string,
  mappings: readonly BundleNamespaceMapping[],
  all: readonly KubeObject[],
): Omit<ReachedNamespaces, "isPartial"> {
  const selected = all
    .filter((each) => mappings.some((mapping) => mapsNamespace(mapping, each)))
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== own)
    .toSorted();
  const refusing = new Set(mappings.flatMap(({ status }) => status?.refusedNamespaces ?? []));
  return {
    namespaces: [own, ...selected.filter((name) => !refusing.has(name))],
    refused: selected.filter((name) => refusing.has(name)),
    unnamed: Math.max(0, ...mappings.map(({ status }) => unnamedIn(status))),
  };
}

function unnamedIn(status: BundleNamespaceMappingStatus | undefined): number {
  return (status?.refusedCount ?? 0) - (status?.refusedNamespaces?.length ?? 0);
}

async function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    return undefined;
  }
}
