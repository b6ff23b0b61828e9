/** The objects of a release that are compared, as Helm applies them. */
import type { DriftContent } from "@flotilla/shared/content";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { desiredObject, type ReleaseRef } from "./desired-object.ts";
import { type DriftObject, objectKey } from "./drift.ts";
import { ignoreRules } from "./ignore-rules.ts";
import type { ComparedObject } from "./object-access.ts";

/** An object as a manifest names it: without a namespace it is in the release's. */
type ManifestObject = DriftObject;

export interface DriftSourceDeps {
  readonly release: ReleaseRef;
  readonly options: Pick<DriftContent, "ignore">;
  readonly wholeObjects: () => Promise<readonly KubeObject[]>;
  readonly resources: () => readonly {
    readonly owned: ManifestObject;
    readonly resource: Resource<KubeObject>;
    readonly isRemovedByDesign: () => boolean;
  }[];
}

export interface DriftSources {
  /** The same for an object with and without the namespace of the release, and with any for one of a kind without namespaces. */
  keyOf(object: ManifestObject): string;
  /** Undefined: the manifest does not have it, or the cluster does not have its kind. */
  find(key: string): Promise<ComparedObject | undefined>;
  /** The keys in the order of Helm. */
  readonly order: () => readonly string[];
}

export function driftSources({
  release,
  options,
  wholeObjects,
  resources,
}: DriftSourceDeps): DriftSources {
  const rules = ignoreRules(options);

  /** `clusterKinds`: kinds without namespaces. */
  function keyWithin(clusterKinds: ReadonlySet<string>, object: ManifestObject): string {
    const { apiVersion, kind, name } = object;
    const own = clusterKinds.has(kindKey(object)) ? undefined : object.namespace;
    return objectKey({ apiVersion, kind, namespace: own ?? release.namespace, name });
  }

  function clusterKinds(): ReadonlySet<string> {
    const found = resources().filter(({ resource }) => !resource.namespaced);
    return new Set(found.map(({ owned }) => kindKey(owned)));
  }

  return {
    keyOf: (object) => keyWithin(clusterKinds(), object),
    order() {
      const kinds = clusterKinds();
      return resources().map(({ owned }) => keyWithin(kinds, owned));
    },
    async find(key) {
      const kinds = clusterKinds();
      const tracked = resources().find(({ owned }) => keyWithin(kinds, owned) === key);
      if (tracked === undefined) return undefined;
      const { resource, isRemovedByDesign } = tracked;
      // Helm applies an object that the manifest has twice in this order.
      const document = (await wholeObjects()).findLast(
        (each) => keyWithin(kinds, named(each)) === key,
      );
      if (document === undefined) return undefined;
      const { apiVersion, kind, name, namespace: own } = named(document);
      const namespace = resource.namespaced ? (own ?? release.namespace) : undefined;
      return {
        resource,
        rules,
        isRemovedByDesign,
        object: { apiVersion, kind, ...(namespace !== undefined && { namespace }), name },
        desired: desiredObject(document, namespace, release),
        desiredBeside: (live) => desiredObject(document, namespace, release, live),
      };
    },
  };
}

function kindKey({ apiVersion, kind }: Pick<ManifestObject, "apiVersion" | "kind">): string {
  return `${apiVersion} ${kind}`;
}

function named({ apiVersion = "", kind = "", metadata }: KubeObject): ManifestObject {
  const { name, namespace } = metadata;
  // Null and "" in a manifest mean the same as absent.
  return { apiVersion, kind, name, ...(namespace && { namespace }) };
}
