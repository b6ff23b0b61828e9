/** Which live objects have the marks that Helm gives to everything that it applies for a release. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { isMarked, type OwnedObject, type ReleaseKey } from "../../helm/index.ts";
import { createDiscovery } from "../../observe/index.ts";
import { createFindServedKind } from "./served-kinds.ts";

/** More than a chart has; each costs a request. */
const maxObjects = 2_000;

/**
 * Those that exist without the marks of the release: it has never applied them, because nobody can mark what he may not write.
 * Objects of a kind that cannot be found count, too, but for one that the cluster does not have any more: there are none. Undefined:
 * too many to look at. Throws what the API server answers.
 */
export async function unmarkedObjects(
  rest: KubeRest,
  release: ReleaseKey,
  objects: readonly OwnedObject[],
  signal: AbortSignal,
): Promise<readonly OwnedObject[] | undefined> {
  if (objects.length > maxObjects) return undefined;
  const discovery = createDiscovery(rest);
  const findServed = createFindServedKind(rest, signal);
  const found: OwnedObject[] = [];
  const isForeign = async (resource: Resource<KubeObject>, { name, namespace }: OwnedObject) => {
    const place = resource.namespaced ? { namespace: namespace ?? release.namespace } : {};
    const live = await rest.get(resource, { name, ...place }, { signal });
    return live !== undefined && !isMarked(live, release);
  };
  for (const object of objects) {
    const discovered = await discovery.find(object.apiVersion, object.kind, signal);
    const isFound =
      discovered.kind === "found"
        ? await isForeign(discovered.resource, object)
        : (await findServed(object)).kind !== "gone";
    if (isFound) found.push(object);
  }
  return found;
}
