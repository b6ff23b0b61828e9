/**
 * The objects of one kind in memory: as the watch delivers them, with our own writes laid over.
 *
 * A write of ours is answered before the watch tells of it. Until it does, `get` gives what the API server answered, so
 * that a loop never acts on the state before its own write. Resource versions are opaque, so "before" cannot be
 * compared; instead the store knows which versions the watch has delivered.
 */
import { type Clock, systemClock } from "../clock/clock.ts";
import { type KubeObject, keyOf, type ObjectKey } from "./object.ts";
import { createObjectIndex, type ObjectIndex } from "./object-index.ts";
import { createSeenVersions, type SeenVersions } from "./seen-versions.ts";

/** For each index its name and the values under which an object is found there. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** The reading side. Objects are shared: they must never be changed in place. */
export interface Store<T extends KubeObject> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  list(): readonly T[];
  /** Throws for an index that was not declared. */
  byIndex(index: string, value: string): readonly T[];
  /** Tells of a write that succeeded, with the object that the API server answered, which becomes the store's. */
  wrote(object: T): void;
}

/** What the watch told about one object: `before` is absent for a new one, `after` for one that is gone. */
export interface Change<T> {
  readonly key: ObjectKey;
  readonly before?: T;
  readonly after?: T;
  /** It was there already when it was first listed: it may be handled with low priority. */
  readonly listed?: boolean;
}

/** The writing side, for the reflector. Changes speak of what the watch delivered, whatever is laid over it. */
export interface WatchedStore<T extends KubeObject> extends Store<T> {
  /** An object that was added or has changed. */
  set(object: T): Change<T> | undefined;
  remove(object: T): Change<T> | undefined;
  /** Everything there is, from a new list. */
  replaceAll(objects: readonly T[]): readonly Change<T>[];
}

export interface StoreOptions<T extends KubeObject> {
  readonly indexers?: Indexers<T>;
  /** Applied to what is told by `wrote`, and may change it in place; what the watch delivers has been through it. */
  readonly transform?: (object: T) => T;
  /** Freezes objects deeply; for tests. */
  readonly freeze?: boolean;
  readonly clock?: Clock;
}

/** A write of ours that the watch has not delivered yet. */
interface Pending<T> {
  readonly version: string | undefined;
  readonly uid: string | undefined;
  readonly since: number;
  /** What the watch delivered last. */
  watched: T | undefined;
}

/**
 * The watch is behind by milliseconds. What it has not delivered after this long, it never will: a list has skipped it,
 * because the object changed again before and the answer to our write came late.
 */
const longestPendingMs = 10_000;

export function createStore<T extends KubeObject>(options: StoreOptions<T> = {}): WatchedStore<T> {
  const { transform, freeze = false, clock = systemClock } = options;
  const objects = new Map<ObjectKey, T>();
  const index: ObjectIndex<T> = createObjectIndex(options.indexers ?? {});
  const pending = new Map<ObjectKey, Pending<T>>();
  const seen: SeenVersions = createSeenVersions();

  function enter(object: T): T {
    return freeze ? deepFreeze(object) : object;
  }

  /** Sets what readers get. */
  function show(key: ObjectKey, object: T | undefined): void {
    const shown = objects.get(key);
    if (shown === object) return;
    if (object === undefined) objects.delete(key);
    else objects.set(key, object);
    index.update(key, shown, object);
  }

  function dropOldPending(): void {
    const tooOld = clock.monotonic() - longestPendingMs;
    for (const [key, write] of pending) {
      // In the order of insertion, which is that of time.
      if (write.since > tooOld) return;
      pending.delete(key);
      show(key, write.watched);
    }
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
    byIndex: (name, value) => index.find(name, value),

    wrote(object) {
      const key = keyOf(object);
      const { resourceVersion, uid } = object.metadata;
      dropOldPending();
      if (seen.has(key, uid, resourceVersion)) return;
      const watched = watchedOf(key);
      pending.delete(key);
      pending.set(key, { version: resourceVersion, uid, since: clock.monotonic(), watched });
      show(
        key,
        isGone(object) ? undefined : enter(transform === undefined ? object : transform(object)),
      );
    },

    set(object) {
      const key = keyOf(object);
      const { resourceVersion, uid } = object.metadata;
      dropOldPending();
      const before = watchedOf(key);
      if (before?.metadata.resourceVersion === resourceVersion && before?.metadata.uid === uid)
        return undefined;
      const after = enter(object);
      seen.add(key, uid, resourceVersion);
      const write = pending.get(key);
      if (write !== undefined && write.version !== resourceVersion) {
        write.watched = after;
      } else {
        pending.delete(key);
        show(key, after);
      }
      return { key, after, ...(before === undefined ? {} : { before }) };
    },

    remove(object) {
      const key = keyOf(object);
      const { uid } = object.metadata;
      dropOldPending();
      const before = watchedOf(key);
      seen.addGone(key, uid);
      const write = pending.get(key);
      if (write !== undefined && write.uid !== uid) {
        // What we wrote is a new object of the same name.
        write.watched = undefined;
      } else {
        pending.delete(key);
        show(key, undefined);
      }
      return before === undefined ? undefined : { key, before };
    },

    replaceAll(listed) {
      const changes: Change<T>[] = [];
      const missing = new Map<ObjectKey, T>();
      for (const [key, object] of objects) if (!pending.has(key)) missing.set(key, object);
      for (const [key, { watched }] of pending)
        if (watched !== undefined) missing.set(key, watched);
      for (const key of pending.keys()) if (!missing.has(key)) show(key, undefined);
      pending.clear();
      for (const object of listed) {
        const key = keyOf(object);
        const before = missing.get(key);
        missing.delete(key);
        seen.add(key, object.metadata.uid, object.metadata.resourceVersion);
        if (before !== undefined && isSame(before, object)) {
          show(key, before);
          continue;
        }
        const after = enter(object);
        show(key, after);
        changes.push(before === undefined ? { key, after, listed: true } : { key, before, after });
      }
      for (const [key, before] of missing) {
        seen.addGone(key, before.metadata.uid);
        show(key, undefined);
        changes.push({ key, before });
      }
      return changes;
    },
  };
}

function isSame(one: KubeObject, other: KubeObject): boolean {
  return (
    one.metadata.resourceVersion === other.metadata.resourceVersion &&
    one.metadata.uid === other.metadata.uid
  );
}

/** The answer to a write that removed the last finalizer of an object that was being deleted: it is gone with it. */
function isGone(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    (finalizers === undefined || finalizers.length === 0) &&
    !hasGrace(object)
  );
}

/** Pods are deleted in their own time, without finalizers. */
function hasGrace(object: KubeObject): boolean {
  const seconds: unknown = Reflect.get(object.metadata, "deletionGracePeriodSeconds");
  return typeof seconds === "number" && seconds > 0;
}

function deepFreeze<V>(value: V): V {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
