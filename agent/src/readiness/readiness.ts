/** How all objects of one release are, from what is seen of each. Pure. */
import type { ResourceState, ResourceTally } from "@flotilla/proto/messages.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/object.ts";
import type { OwnedObject } from "./manifest.ts";
import { statusOf } from "./object-status.ts";

export interface Readiness {
  readonly ready: boolean;
  /** The first few that are not, in a stable order. */
  readonly notReady: readonly ResourceState[];
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

const listedAtMost = 10;

/** `namespace` is the release's, which counts for objects that name none. */
export function toReadiness(objects: readonly Seen[], namespace: string): Readiness {
  const counts = { desiredReady: objects.length, ready: 0, notReady: 0, missing: 0, unknown: 0 };
  const notReady: ResourceState[] = [];
  for (const seen of objects) {
    const placed = { ...seen.owned, namespace: seen.owned.namespace ?? namespace };
    if (seen.kind === "hidden") {
      counts.unknown += 1;
      notReady.push({ ...placed, message: seen.why, missing: false });
      continue;
    }
    const { namespace: _, ...clusterWide } = placed;
    const shown = seen.resource.namespaced ? placed : clusterWide;
    if (seen.object === undefined) {
      counts.missing += 1;
      notReady.push({ ...shown, message: "is not there", missing: true });
      continue;
    }
    const status = statusOf(seen.resource.group, seen.resource.kind, seen.object);
    if (status.kind === "current") {
      counts.ready += 1;
      continue;
    }
    counts.notReady += 1;
    notReady.push({ ...shown, message: status.message, missing: false });
  }
  return {
    ready: notReady.length === 0,
    notReady: notReady.sort(byName).slice(0, listedAtMost),
    counts,
  };
}

function byName(a: ResourceState, b: ResourceState): number {
  const [left, right] = [a, b].map(
    ({ kind, namespace, name }) => `${kind} ${namespace ?? ""} ${name}`,
  );
  return (left ?? "") < (right ?? "") ? -1 : 1;
}
