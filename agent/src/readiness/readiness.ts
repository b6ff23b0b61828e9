/** How all objects of one release are, from what is seen of each. Pure. */
import type { ResourceState, ResourceTally, UnreadyResource } from "@flotilla/proto/messages.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects/object.ts";
import type { OwnedObject } from "./manifest.ts";
import { hasStatus, statusOf } from "./object-status.ts";

export interface Readiness {
  readonly ready: boolean;
  /** The first few that are not, in a stable order. */
  readonly notReady: readonly UnreadyResource[];
  /** The first of all of them, in an order that does not depend on their states: those that may be unready come first. */
  readonly resources: readonly ResourceState[];
  /** There are more than the lists hold. */
  readonly incomplete: boolean;
  readonly counts: ResourceTally;
}

/** One object of a release, as far as it can be seen. */
export type Seen =
  /** Nobody knows how it is. */
  | { readonly kind: "hidden"; readonly owned: OwnedObject; readonly why: string }
  | {
      readonly kind: "shown";
      readonly owned: OwnedObject;
      readonly resource: Resource<KubeObject>;
      /** Undefined: there is no such object. */
      readonly object: KubeObject | undefined;
    };

const unreadyAtMost = 10;
/** The hub keeps fewer: what it has room for. */
const listedAtMost = 64;

/** `namespace` is the release's, which counts for objects that name none. */
export function toReadiness(objects: readonly Seen[], namespace: string): Readiness {
  const counts = { desiredReady: objects.length, ready: 0, notReady: 0, missing: 0, unknown: 0 };
  const notReady: UnreadyResource[] = [];
  const resources: ResourceState[] = [];
  for (const seen of objects) {
    const resource = judge(seen, namespace);
    counts[countedAs(resource.state)] += 1;
    if (resource.state !== "ready") notReady.push(resource);
    const { message: _, ...withoutMessage } = resource;
    resources.push(withoutMessage);
  }
  return {
    ready: notReady.length === 0,
    notReady: notReady.sort(byName).slice(0, unreadyAtMost),
    resources: resources.sort(byImportance).slice(0, listedAtMost),
    incomplete: notReady.length > unreadyAtMost || resources.length > listedAtMost,
    counts,
  };
}

function judge(seen: Seen, namespace: string): UnreadyResource {
  const placed = { ...seen.owned, namespace: seen.owned.namespace ?? namespace };
  if (seen.kind === "hidden") return { ...placed, state: "unknown", message: seen.why };
  const { namespace: _, ...clusterWide } = placed;
  const shown = seen.resource.namespaced ? placed : clusterWide;
  if (seen.object === undefined) return { ...shown, state: "missing", message: "is not there" };
  const status = statusOf(seen.resource.group, seen.resource.kind, seen.object);
  switch (status.kind) {
    case "current":
      return { ...shown, state: "ready", message: "" };
    case "inProgress":
      return { ...shown, state: "in-progress", message: status.message };
    case "failed":
    case "terminating":
      return { ...shown, state: status.kind, message: status.message };
  }
}

function countedAs(state: ResourceState["state"]): Exclude<keyof ResourceTally, "desiredReady"> {
  return state === "ready" || state === "missing" || state === "unknown" ? state : "notReady";
}

function byImportance(a: ResourceState, b: ResourceState): number {
  return Number(mayBeUnready(b)) - Number(mayBeUnready(a)) || byName(a, b);
}

function mayBeUnready({ apiVersion, kind }: ResourceState): boolean {
  return hasStatus(apiVersion.includes("/") ? apiVersion.replace(/\/.*/, "") : "", kind);
}

function byName(a: ResourceState, b: ResourceState): number {
  const [left, right] = [a, b].map(
    ({ apiVersion, kind, namespace, name }) => `${kind} ${namespace ?? ""} ${name} ${apiVersion}`,
  );
  return (left ?? "") < (right ?? "") ? -1 : 1;
}
