/**
 * The objects of one kind in memory: as the watch delivers them, with our own writes on top (client-go: MutationCache).
 * The response to a write arrives before the watch delivers the change. Until then `get` returns the response, so that
 * a reconcile never acts on the state before its own write. resourceVersions only grow (`isLaterVersion`), and a watch
 * delivers them in order: a response that is not later than the last delivery is stale.
 */

import { isLaterVersion, type KubeObject, keyOf, type ObjectKey } from "../objects/index.ts";
import { createIndexSet, type Index } from "./object-index.ts";
import {
  isAhead,
  isGone,
  isLaterThanList,
  isSettledByDeletion,
  type PendingWrite,
} from "./pending-writes.ts";

/** For readers and writers of objects. Objects are shared: they must never be changed in place. */
export interface Store<T extends KubeObject> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  list(): readonly T[];
  byIndex(index: Index<T>, value: string): readonly T[];
  /**
   * To be called with the response of a write (or of a read of one object), which becomes the store's. The object has to match
   * the selectors of the watch: one that the watch never delivers is in the store until the next list.
   */
  wrote(object: T): void;
}

/** A change of one object: `before` is absent for a new one, `after` for a deleted one. */
export interface Change<T> {
  readonly key: ObjectKey;
  readonly before?: T;
  readonly after?: T;
  /** It is part of a list, not an event of a watch: it may be processed with low priority. */
  readonly isInInitialList?: boolean;
  /**
   * A list does not have it any more: it was deleted unwatched, and may have changed after `before` (client-go:
   * DeletedFinalStateUnknown).
   */
  readonly isFinalStateUnknown?: true;
}

/**
 * For the reflector. Changes are as the watch delivers them, whatever write is on top. Only a write of ours that a list does not have
 * is a change of its own: a reconcile may have acted on it, so it appears and disappears in the changes, too.
 */
export interface WatchedStore<T extends KubeObject> extends Store<T> {
  /** An object that was added or has changed. */
  set(object: T): Change<T> | undefined;
  remove(object: T): Change<T> | undefined;
  /**
   * To be called before a list starts: the list has every write whose response has arrived by then, unless the server
   * has lost it. Returns the function that takes the objects of the list, and its `version`.
   */
  beginList(): (listed: readonly T[], version: string) => readonly Change<T>[];
}

export interface StoreOptions<T extends KubeObject> {
  /** Applied to the objects of `wrote`, which it may change in place; the reflector applies it to the watch's objects. */
  readonly transform?: (object: T) => T;
  /** Freezes objects deeply; for tests. */
  readonly freeze?: boolean;
}

export function createStore<T extends KubeObject>(options: StoreOptions<T> = {}): WatchedStore<T> {
  const { transform, freeze = false } = options;
  const objects = new Map<ObjectKey, T>();
  const indexes = createIndexSet(objects);
  const pending = new Map<ObjectKey, PendingWrite<T>>();
  /** The watch has delivered everything up to this version. */
  let delivered: string | undefined;

  function enter(object: T): T {
    return freeze ? deepFreeze(object) : object;
  }

  /** Sets the object that readers get. */
  function show(key: ObjectKey, object: T | undefined): void {
    const shown = objects.get(key);
    if (shown === object) return;
    if (object === undefined) objects.delete(key);
    else objects.set(key, object);
    indexes.update(key, shown, object);
  }

  /** Sets the object that the watch has delivered, which readers get unless a pending write is on top. */
  function deliver(key: ObjectKey, object: T | undefined): void {
    const write = pending.get(key);
    if (write === undefined) show(key, object);
    else write.watched = object;
  }

  function watchedOf(key: ObjectKey): T | undefined {
    const write = pending.get(key);
    return write === undefined ? objects.get(key) : write.watched;
  }

  return {
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    byIndex: indexes.find,

    wrote(object) {
      const key = keyOf(object);
      const { resourceVersion, uid } = object.metadata;
      const watched = watchedOf(key);
      if (isGone(object)) {
        if (objects.get(key)?.metadata.uid !== uid) return;
        pending.set(key, { uid, version: undefined, watched });
        show(key, undefined);
        return;
      }
      const write = pending.get(key);
      if (!isLaterVersion(resourceVersion, delivered) || (write && isAhead(write, object))) return;
      pending.set(key, { uid, version: resourceVersion, watched });
      show(key, enter(transform === undefined ? object : transform(object)));
    },

    set(object) {
      const key = keyOf(object);
      const before = watchedOf(key);
      if (before !== undefined && isSame(before, object)) return undefined;
      const after = enter(object);
      delivered = object.metadata.resourceVersion;
      const write = pending.get(key);
      if (write !== undefined && !isAhead(write, object)) pending.delete(key);
      deliver(key, after);
      return changeOf(key, before, after);
    },

    remove(object) {
      const key = keyOf(object);
      const before = watchedOf(key);
      delivered = object.metadata.resourceVersion;
      const write = pending.get(key);
      if (write !== undefined && isSettledByDeletion(write, object)) pending.delete(key);
      deliver(key, undefined);
      return before && changeOf(key, before, undefined);
    },

    beginList() {
      const writesBefore = new Set(pending.values());
      return (listed, version) => {
        const changes: Change<T>[] = [];
        const found = new Map(listed.map((object) => [keyOf(object), object]));
        for (const [key, write] of pending) {
          if (!writesBefore.has(write) && isLaterThanList(write, found.get(key), version)) continue;
          pending.delete(key);
          const shown = objects.get(key);
          if (shown !== write.watched) changes.push(changeOf(key, write.watched, shown));
        }
        delivered = version;
        const missing = [...objects.keys()].filter((key) => !found.has(key));
        for (const [key, object] of found) {
          const before = watchedOf(key);
          if (before !== undefined && isSame(before, object)) continue;
          const after = enter(object);
          deliver(key, after);
          const change = changeOf(key, before, after);
          changes.push(before === undefined ? { ...change, isInInitialList: true } : change);
        }
        for (const key of missing) {
          const before = watchedOf(key);
          deliver(key, undefined);
          if (before !== undefined) changes.push({ key, before, isFinalStateUnknown: true });
        }
        return changes;
      };
    },
  };
}

function changeOf<T>(key: ObjectKey, before: T | undefined, after: T | undefined): Change<T> {
  return {
    key,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  };
}

function isSame(one: KubeObject, other: KubeObject): boolean {
  return (
    one.metadata.resourceVersion === other.metadata.resourceVersion &&
    one.metadata.uid === other.metadata.uid
  );
}

function deepFreeze<V>(value: V): V {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
