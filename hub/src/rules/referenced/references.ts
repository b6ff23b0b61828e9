/** What an agent needs besides its deployments: cluster info, and the Secrets and ConfigMaps that deployments refer to. */
import { isDeepStrictEqual } from "node:util";
import type { ObjectRef } from "@flotilla/proto";
import {
  type Bundle,
  type BundleDeployment,
  type Cluster,
  parseObjectRef,
  placeOnHub,
} from "@flotilla/shared/api";
import { byNamespace, type Change, type Informer } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import type { ClusterInfo } from "@flotilla/shared/referenced";
import { byBundle, clusterKeyOf, referencedObjectsOf } from "../../base/index.ts";
import type { WorkspaceObjects } from "./workspace-objects.ts";

/** The references that a change of a BundleDeployment adds and drops. */
export function changedReferences(
  before: BundleDeployment | undefined,
  after: BundleDeployment | undefined,
): { readonly added: readonly ObjectRef[]; readonly dropped: readonly ObjectRef[] } {
  const [was, is] = [before, after].map((one) =>
    one === undefined ? [] : referencedObjectsOf(one),
  );
  const without = (keys: readonly string[] = [], others: readonly string[] = []) => {
    const known = new Set(others);
    return keys.filter((key) => !known.has(key)).flatMap((key) => parseObjectRef(key) ?? []);
  };
  return { added: without(is, was), dropped: without(was, is) };
}

/**
 * Keeps every object watched that a trusted deployment refers to: what others wrote is neither sent nor watched. To be called before
 * the informer runs; returns the function that stops it.
 */
export function watchReferences(
  {
    deployments,
    bundles,
  }: {
    readonly deployments: Pick<Informer<BundleDeployment>, "store" | "onChange">;
    readonly bundles: Pick<Informer<Bundle>, "onChange">;
  },
  objects: Pick<WorkspaceObjects, "watch" | "unwatch">,
  trust: { isTrusted(deployment: BundleDeployment): boolean },
): () => void {
  /** As their references are watched: by now the key may be another one. */
  const watching = new Map<ObjectKey, BundleDeployment>();

  function update(key: ObjectKey, after: BundleDeployment | undefined): void {
    const before = watching.get(key);
    const now = after !== undefined && trust.isTrusted(after) ? after : undefined;
    if (now === undefined || referencedObjectsOf(now).length === 0) watching.delete(key);
    else watching.set(key, now);
    const { added, dropped } = changedReferences(before, now);
    for (const ref of added) objects.watch(...onHub(ref, workspaceOf(now)));
    for (const ref of dropped) objects.unwatch(...onHub(ref, workspaceOf(before)));
  }

  const stops = [
    deployments.onChange(({ key, after }) => update(key, after)),
    // The watch of one kind may be ahead of the other.
    bundles.onChange((change) => {
      if (!isAnother(change)) return;
      for (const each of deployments.store.byIndex(byBundle, change.key)) update(keyOf(each), each);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Whether an object was created or deleted, or has the name of one that was. */
export function isAnother({ before, after }: Change<KubeObject>): boolean {
  return before?.metadata.uid !== after?.metadata.uid;
}

/** Namespaces whose objects are watched: those with objects of given kinds. To be called before the informers run. */
export interface Workspaces {
  has(namespace: string): boolean;
  /** Calls the listener with each namespace that may have become a workspace. */
  onAdd(listener: (namespace: string) => void): void;
}

export function workspacesOf(
  informers: readonly Pick<Informer<KubeObject>, "store" | "onChange">[],
): Workspaces {
  return {
    has: (namespace) =>
      informers.some(({ store }) => store.byIndex(byNamespace, namespace).length > 0),
    onAdd(listener) {
      for (const informer of informers)
        informer.onChange(({ before, after }) => {
          if (before === undefined) listener(after?.metadata.namespace ?? "");
        });
    },
  };
}

/** Where the hub has an object that a deployment of a workspace refers to. */
export function onHub(
  ref: ObjectRef,
  workspace: string,
): readonly [namespace: string, ref: ObjectRef] {
  const { namespace, name } = placeOnHub(ref, workspace);
  return [namespace, { kind: ref.kind, name }];
}

function workspaceOf(deployment: BundleDeployment | undefined): string {
  return deployment === undefined ? "" : (refOf(clusterKeyOf(deployment)).namespace ?? "");
}

/** A copy of the whole object. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

export function clusterInfoOf({ metadata, spec }: Cluster): ClusterInfo {
  const { [lastApplied]: _, ...annotations } = metadata.annotations ?? {};
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    labels: metadata.labels ?? {},
    annotations,
    templateValues: spec.templateValues ?? {},
  };
}

/** Whether a change of a Cluster changes its cluster info; a change of its status never does. */
export function isClusterInfoChange(
  before: Cluster | undefined,
  after: Cluster | undefined,
): boolean {
  if (after === undefined) return false;
  return before === undefined || !isDeepStrictEqual(clusterInfoOf(before), clusterInfoOf(after));
}
