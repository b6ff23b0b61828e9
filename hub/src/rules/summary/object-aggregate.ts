/** Running totals over the objects of one Bundle: in which deployments each of them is in which state. */
import type { ResourceStateName } from "@flotilla/shared/api";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { ObjectId } from "./object-states.ts";
import { createSortedKeys, type MutableSortedKeys, type SortedKeys } from "./sorted-keys.ts";

export interface ObjectAggregate {
  /** Ids of the objects that are ready wherever they are. */
  readonly ready: SortedKeys;
  /** Ids of all others. */
  readonly unready: SortedKeys;
  /** Keys of the BundleDeployments in which an object has each state. */
  of(id: ObjectId): ReadonlyMap<ResourceStateName, SortedKeys>;
}

export type ObjectStates = ReadonlyMap<ObjectId, ResourceStateName>;

export interface MutableObjectAggregate extends ObjectAggregate {
  /** One BundleDeployment changed; an empty map before its creation and after its deletion. */
  change(deployment: ObjectKey, before: ObjectStates, after: ObjectStates): void;
}

const nowhere: ReadonlyMap<ResourceStateName, SortedKeys> = new Map();

export function createObjectAggregate(): MutableObjectAggregate {
  const objects = new Map<ObjectId, Map<ResourceStateName, MutableSortedKeys>>();
  const ready = createSortedKeys();
  const unready = createSortedKeys();

  function leave(id: ObjectId, state: ResourceStateName, deployment: ObjectKey): void {
    const states = objects.get(id);
    const keys = states?.get(state);
    keys?.delete(deployment);
    if (keys?.size === 0) states?.delete(state);
  }

  function enter(id: ObjectId, state: ResourceStateName, deployment: ObjectKey): void {
    const states = objects.get(id) ?? new Map<ResourceStateName, MutableSortedKeys>();
    const keys = states.get(state) ?? createSortedKeys();
    keys.add(deployment);
    states.set(state, keys);
    objects.set(id, states);
  }

  function sort(id: ObjectId): void {
    const states = objects.get(id);
    if (states === undefined || states.size === 0) {
      objects.delete(id);
      ready.delete(id);
      unready.delete(id);
      return;
    }
    const isReady = states.size === 1 && states.has("ready");
    (isReady ? ready : unready).add(id);
    (isReady ? unready : ready).delete(id);
  }

  return {
    ready,
    unready,
    of: (id) => objects.get(id) ?? nowhere,
    change(deployment, before, after) {
      const changed: ObjectId[] = [];
      for (const [id, state] of before) {
        if (after.get(id) === state) continue;
        leave(id, state, deployment);
        changed.push(id);
      }
      for (const [id, state] of after) {
        if (before.get(id) === state) continue;
        enter(id, state, deployment);
        changed.push(id);
      }
      for (const id of changed) sort(id);
    },
  };
}
