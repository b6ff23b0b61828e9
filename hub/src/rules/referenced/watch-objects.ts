/** The referenced objects of all namespaces, with everything that refers to them. */
import type { Receiver } from "@flotilla/shared/flux";
import type { Informer } from "@flotilla/shared/kube/cache";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { NamespaceWatchesDeps } from "./namespace-watches.ts";
import { workspacesOf } from "./references.ts";
import { WorkspaceObjects } from "./workspace-objects.ts";

export interface WatchedObjectsDeps extends Omit<NamespaceWatchesDeps, "isWorkspace"> {
  readonly clusters: Pick<Informer<KubeObject>, "store" | "onChange">;
  readonly helmOps: Pick<Informer<KubeObject>, "store" | "onChange">;
  readonly receivers: Pick<Informer<Receiver>, "store" | "onChange">;
  /** Watched without any of them. */
  readonly namespaces: readonly string[];
}

/**
 * To be called before the informers run. Nothing reads the Secret of a Receiver again on a schedule, and every call needs it:
 * namespaces with Receivers are watched as workspaces are.
 */
export function createWatchedObjects(deps: WatchedObjectsDeps): WorkspaceObjects {
  const { clusters, helmOps, receivers, namespaces } = deps;
  const workspaces = workspacesOf([clusters, helmOps, receivers]);
  const objects = new WorkspaceObjects({
    ...deps,
    isWorkspace: (namespace) => namespaces.includes(namespace) || workspaces.has(namespace),
  });
  workspaces.onAdd((namespace) => objects.workspaceChanged(namespace));
  return objects;
}
