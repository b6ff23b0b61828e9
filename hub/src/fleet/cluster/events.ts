/** Events on two Clusters that would have the same namespace: each says which of them has it. */
import type { Cluster } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type Namespace } from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import type { TakenNamespace } from "../../base/index.ts";

interface EventDeps {
  readonly events: EventRecorder;
  readonly clusters: Store<Cluster>;
}

/** The Cluster gets no namespace, and so no deployments. */
export function recordTakenNamespace(
  deps: EventDeps,
  cluster: Cluster,
  { name, owner }: TakenNamespace,
): void {
  const key = keyOf(cluster);
  const ownNote = takenText({ name, owner });
  const otherNote = `the namespace ${name} of this Cluster has the name that the namespace of Cluster ${key} would have; this Cluster keeps it, and ${key} gets no deployments`;
  recordOnBoth(deps, cluster, { owner, reason: "NamespaceTaken", ownNote, otherNote });
}

/** The Cluster shared the namespace of another one until now. */
export function recordLeftNamespace(
  deps: EventDeps,
  cluster: Cluster,
  namespace: string,
  { name, owner }: TakenNamespace,
): void {
  const key = keyOf(cluster);
  const ownNote = `the namespace ${name} belongs to Cluster ${owner}, whose namespace had the same name; this Cluster gets the namespace ${namespace}`;
  const otherNote = `Cluster ${key}, whose namespace had the same name, no longer uses the namespace ${name} of this Cluster; it gets the namespace ${namespace}`;
  recordOnBoth(deps, cluster, { owner, reason: "NamespaceShared", ownNote, otherNote });
}

/** Why a Cluster has no namespace, and what to do. */
export function takenText({ name, owner }: TakenNamespace): string {
  return `the namespace ${name} of this Cluster belongs to Cluster ${owner}; this Cluster gets no deployments; delete one of the two Clusters, or create this one with another name`;
}

function recordOnBoth(
  { events, clusters }: EventDeps,
  cluster: Cluster,
  {
    owner,
    reason,
    ownNote,
    otherNote,
  }: {
    readonly owner: TakenNamespace["owner"];
    readonly reason: string;
    readonly ownNote: string;
    readonly otherNote: string;
  },
): void {
  const [type, action] = ["Warning", "CreateNamespace"] as const;
  events.record(cluster, { type, reason, action, note: ownNote });
  const other = clusters.get(owner);
  if (other !== undefined) events.record(other, { type, reason, action, note: otherNote });
}

/** The namespace has objects of others, and stays until they are gone. */
export function recordKeptNamespace(
  { events }: Pick<EventDeps, "events">,
  namespace: Namespace,
  foreign: readonly string[],
): void {
  events.record(namespace, {
    type: "Warning",
    reason: "NamespaceNotEmpty",
    action: "Delete",
    note: `the Cluster of this namespace was deleted; the namespace has objects that the hub did not make, ${listNames(foreign)}, so it is not deleted; move or delete them, and the hub deletes it within a minute`,
  });
}

/** The namespace existed before its Cluster, so the hub does not delete it. */
export function recordLeftAlone({ events }: Pick<EventDeps, "events">, namespace: Namespace): void {
  events.record(namespace, {
    type: "Normal",
    reason: "NamespaceKept",
    action: "Release",
    note: "the Cluster of this namespace was deleted; the hub did not create the namespace, so it stays",
  });
}
