/** The kinds that the dashboard shows, and whether a user may see them in a namespace. */
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { ViewedKind } from "../access/scope.ts";
import type { ApiContext } from "./context.ts";
import { forbidden, invalid } from "./errors.ts";

export interface ViewedResources {
  /** Throws VIEW_INVALID. */
  of(kind: string): Resource<KubeObject>;
  /** Throws VIEW_FORBIDDEN. */
  requireView(context: ApiContext, kind: string, namespace: string): void;
}

export function createViewedResources(kinds: readonly ViewedKind[]): ViewedResources {
  const resources = new Map(kinds.map(({ resource }) => [resource.kind, resource]));

  function resourceOf(kind: string): Resource<KubeObject> {
    const resource = resources.get(kind);
    if (resource === undefined) throw invalid(`the kind ${kind} is not shown`);
    return resource;
  }

  return {
    of: resourceOf,
    requireView(context, kind, namespace) {
      if (context.var.scope.sees(kind, namespace)) return;
      throw forbidden(`you may not list ${resourceOf(kind).plural} in namespace ${namespace}`);
    },
  };
}
