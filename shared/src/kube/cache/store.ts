/**
 * The objects of one kind in memory: as the watch delivers them, with our own writes laid over.
 *
 * A write of ours is answered before the watch tells of it. Until it does, `get` gives what the API server answered, so
 * that a loop never acts on the state before its own write. Resource versions only grow (resource-version.ts), and a watch
 * delivers them in order: an answer that is not later than its last one is old news.
 */

import { createObjectIndex, type ObjectIndex } from "../object-index.ts";
import { isLaterVersion, type KubeObject, keyOf, type ObjectKey } from "../objects/object.ts";

/** For each index its name and the values under which an object is found there. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** The reading side. Objects are shared: they must never be changed in place. */
export interface Store<T extends KubeObject> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  list(): readonly T[];
  /** Throws for an index that was not declared. */
  byIndex(index: string, value: string): readonly T[];
  /**
   * Tells of a write that succeeded, with the object that the API server answered, which becomes the store's. It is one
   * that the watch selects, before and after: what it never tells of is shown until the next list. What a single object
   * was read as may be told as well.
   */
  wrote(object: T): void;
}

/** What the watch told about one object: `before` is absent for a new one, `after` for one that is gone. */
export interface Change<T> {
  readonly key: ObjectKey;
  readonly before?: T;
  readonly after?: T;
  /** It was there already when it was first listed: it may be handled with low priority. */
  readonly isInInitialList?: boolean;
}

/**
 * The writing side, for the reflector. Changes speak of what the watch delivered, whatever is laid over it, but for a write
 * of ours that a list has skipped: whoever looked meanwhile has acted on it, so its coming and going are told as well.
 */
export interface WatchedStore<T extends KubeObject> extends Store<T> {
  /** An object that was added or has changed. */
  set(object: T): Change<T> | undefined;
  remove(object: T): Change<T> | undefined;
  /**
   * To be called before everything is listed: the list has every write that was answered by then, unless the server has
   * lost it. Gives the function that takes the list, which is as of `version`.
   */
  beginList(): (listed: readonly T[], version: string) => readonly Change<T>[];
}

export interface StoreOptions<T extends KubeObject> {
  readonly indexers?: Indexers<T>;
  /** Applied to what is told by `wrote`, and may change it in place; what the watch delivers has been through it. */
  readonly transform?: (object: T) => T;
  /** Freezes objects deeply; for tests. */
  readonly freeze?: boolean;
}

/** A write of ours that the watch has not delivered yet. */
interface Pending<T> {
  readonly uid: string | undefined;
  /** Absent when the write took the object away: the API server answers with the version of before. */
  readonly version: string | undefined;
  /** What the watch delivered last. */
  watched: T | undefined;
}

export function createStore<T extends KubeObject>(options: StoreOptions<T> = {}): WatchedStore<T> {
  const { transform, freeze = false } = options;
  const objects = new Map<ObjectKey, T>();
  const index: ObjectIndex<T> = createObjectIndex(options.indexers ?? {});
  const pending = new Map<ObjectKey, Pending<T>>();
  /** The watch has delivered everything up to this version. */
  let delivered: string | undefined;

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

  /** Sets what the watch has delivered, which readers get unless a write of ours lies over it. */
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
    byIndex: (name, value) => index.find(name, value),

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
      if (write !== undefined && isSettledByEnd(write, object)) pending.delete(key);
      deliver(key, undefined);
      return before && changeOf(key, before, undefined);
    },

    beginList() {
      const answered = new Set(pending.values());
      return (listed, version) => {
        const changes: Change<T>[] = [];
        const found = new Map(listed.map((object) => [keyOf(object), object]));
        for (const [key, write] of pending) {
          if (!answered.has(write) && isLaterThanList(write, found.get(key), version)) continue;
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
          if (before !== undefined) changes.push({ key, before });
        }
        return changes;
      };
    },
  };
}

/** Whether the write is later than what the watch tells of here. */
function isAhead({ uid, version }: Pending<unknown>, { metadata }: KubeObject): boolean {
  return version === undefined
    ? uid === metadata.uid
    : isLaterVersion(version, metadata.resourceVersion);
}

/** Whether what the watch tells of is the end of what was written: a new object of the same name outlives it. */
function isSettledByEnd({ uid, version }: Pending<unknown>, { metadata }: KubeObject): boolean {
  return version === undefined
    ? uid === metadata.uid
    : !isLaterVersion(version, metadata.resourceVersion);
}

/** Whether a write that was answered while a list was on its way is later than the list. */
function isLaterThanList(
  { uid, version }: Pending<unknown>,
  listed: KubeObject | undefined,
  listVersion: string,
): boolean {
  return version === undefined
    ? listed !== undefined && uid === listed.metadata.uid
    : isLaterVersion(version, listVersion);
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

/** The answer to a write that removed the last finalizer of an object that was being deleted: it is gone with it. */
function isGone(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && !endsLater(object);
}

/** Pods are deleted in their own time, and namespaces once they are empty, without finalizers in their metadata. */
function endsLater({ metadata, ...object }: KubeObject): boolean {
  const seconds: unknown = Reflect.get(metadata, "deletionGracePeriodSeconds");
  const spec: unknown = Reflect.get(object, "spec");
  const emptiedBy: unknown =
    typeof spec === "object" && spec !== null ? Reflect.get(spec, "finalizers") : undefined;
  return (
    (typeof seconds === "number" && seconds > 0) ||
    (Array.isArray(emptiedBy) && emptiedBy.length > 0)
  );
}

function deepFreeze<V>(value: V): V {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
