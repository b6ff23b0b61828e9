/**
 * What a controller watches: a source of changes, which of them matter (predicate), and the keys that each of them concerns
 * (map function). What exists when the controller starts is replayed as additions, so that nothing is missed that changed
 * while no controller ran.
 */
import { isDeepStrictEqual } from "node:util";
import type { Change, Informer } from "../cache/index.ts";
import { type KubeObject, keyOf, type ObjectKey } from "../objects/index.ts";

/** Enqueues the key of an object for its reconciler, or for its status. */
export type Enqueue = (key: ObjectKey) => void;

export interface Watch {
  /** Delivers keys from now on; the result stops it. */
  start(enqueue: Enqueue): () => void;
}

export type WatchSource<T extends KubeObject> = Pick<Informer<T>, "store" | "onChange">;

export interface WatchOptions<T> {
  /** Which changes matter; by default all. */
  readonly predicate?: (change: Change<T>) => boolean;
  /** The keys that a change concerns. */
  readonly toKeys: (change: Change<T>) => Iterable<ObjectKey>;
  /** Whether what exists is replayed as additions (`isInInitialList`) at the start; by default it is. */
  readonly replay?: boolean;
}

export function watch<T extends KubeObject>(
  source: WatchSource<T>,
  { predicate = () => true, toKeys, replay = true }: WatchOptions<T>,
): Watch {
  return {
    start(enqueue) {
      const handle = (change: Change<T>): void => {
        if (predicate(change)) for (const key of toKeys(change)) enqueue(key);
      };
      const stop = source.onChange(handle);
      if (replay)
        for (const after of source.store.list())
          handle({ key: keyOf(after), after, isInInitialList: true });
      return stop;
    },
  };
}

/** The same watch, its keys delivered by way of an event handler, for instance one that coalesces bursts. */
export function through(inner: Watch, handler: (enqueue: Enqueue) => Enqueue): Watch {
  return { start: (enqueue) => inner.start(handler(enqueue)) };
}

/** Starts all of them; the result stops them. */
export function startWatches(watches: readonly Watch[], enqueue: Enqueue): () => void {
  const stops = watches.map((each) => each.start(enqueue));
  return () => {
    for (const stop of stops) stop();
  };
}

/** Map function: the object itself. */
export function ownKey({ key }: Change<KubeObject>): readonly ObjectKey[] {
  return [key];
}

/**
 * Predicate: more than the status changed. The object was created or deleted, is being deleted, or has another spec, other
 * labels or other annotations.
 */
export function isSpecChange({ before, after }: Change<KubeObject>): boolean {
  if (before === undefined || after === undefined) return true;
  const [a, b] = [before.metadata, after.metadata];
  return (
    a.uid !== b.uid ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    !isDeepStrictEqual(a.labels, b.labels) ||
    !isDeepStrictEqual(a.annotations, b.annotations)
  );
}

/** Predicate: the object was created or deleted. */
export function isExistenceChange({ before, after }: Change<KubeObject>): boolean {
  return before === undefined || after === undefined;
}
