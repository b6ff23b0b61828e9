/**
 * Publishes the status of one kind of object, level-triggered and with few writes. `publish` sets what a reconcile
 * decided, `refresh` announces changed inputs of the summary. The summary is computed when the status is written, so a
 * hundred calls may end in one write. A status that is published and not written yet is a write-behind cache: losing it
 * is the same as a crash before the write, after which the reconcile decides it again. Each object has a token bucket
 * (`burst`, one more token each `refillMs`): an urgent change is written while there are tokens, everything else waits
 * up to `refillMs`, and the last state is always written. There is never more than one write of an object in flight.
 */

import { isDeepStrictEqual } from "node:util";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { isConflict, isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
  refOf,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";

export interface WithStatus<S> extends KubeObject {
  readonly status?: S | undefined;
}

export interface PublisherOptions<S, T extends WithStatus<S>> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  readonly store: Store<T>;
  /**
   * Completes the status of an object, which is the published one where there is one, with what is derived from other
   * objects; undefined: nothing can be written yet. Reads caches, and changes nothing.
   */
  readonly rollUp: (object: T) => S | undefined;
  readonly isUrgent: (before: S | undefined, after: S) => boolean;
  /** Called after a write, and when there was nothing to write. */
  readonly onSettled?: (key: ObjectKey) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly burst?: number;
  readonly refillMs?: number;
  /** Writes in flight at the same time, over all objects. */
  readonly concurrency?: number;
}

export interface Publisher<S, T extends WithStatus<S>> {
  /** The status to decide by: the published one that is not written yet, else the object's own. */
  current(object: T): S | undefined;
  /** Replaces the status of an object by what a reconcile decided. */
  publish(object: T, status: S): void;
  /** Inputs of the roll-up changed. */
  refresh(key: ObjectKey): void;
  /** The same for changes that arrive by the thousand: the summary is computed within `refillMs`. */
  refreshLater(key: ObjectKey): void;
  /**
   * Stops accepting objects, writes what is pending, and resolves when no write is in flight. What cannot be written
   * now is dropped: neither an unavailable API server nor a lost leadership may keep a process from ending.
   */
  flush(): Promise<void>;
}

/** Attempts of a write that conflicts, before the backoff. */
const mostAttempts = 3;

const longestBackoffMs = 30_000;

interface Entry {
  tokens: number;
  /** Monotonic, ms. */
  refilledAt: number;
  writing: boolean;
  /** Something changed while a write was in flight. */
  isDirty: boolean;
  queued: boolean;
  failures: number;
  timer: Timer | undefined;
  timerAt: number;
}

/** A published status that is not written yet, and the object that it is for: a new object of the same name has none. */
interface Published<S> {
  readonly uid: string | undefined;
  readonly status: S;
}

export function createPublisher<S, T extends WithStatus<S>>(
  options: PublisherOptions<S, T>,
): Publisher<S, T> {
  const { rest, resource, store, rollUp, isUrgent, clock, log } = options;
  const burst = options.burst ?? 5;
  const refillMs = options.refillMs ?? 1_000;
  const concurrency = options.concurrency ?? 32;
  const entries = new Map<ObjectKey, Entry>();
  const published = new Map<ObjectKey, Published<S>>();
  const waiting: ObjectKey[] = [];
  let active = 0;
  /** Set once nothing new is taken; resolved when no write is in flight. */
  let flushed: PromiseWithResolvers<void> | undefined;

  function entryOf(key: ObjectKey): Entry {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const fresh: Entry = {
      tokens: burst,
      refilledAt: clock.monotonic(),
      writing: false,
      isDirty: false,
      queued: false,
      failures: 0,
      timer: undefined,
      timerAt: 0,
    };
    entries.set(key, fresh);
    return fresh;
  }

  function current(object: T): S | undefined {
    const waiting = published.get(keyOf(object));
    return waiting !== undefined && waiting.uid === object.metadata.uid
      ? waiting.status
      : object.status;
  }

  function publish(object: T, status: S): void {
    const key = keyOf(object);
    published.set(key, { uid: object.metadata.uid, status });
    refresh(key);
  }

  function desired(object: T | undefined): S | undefined {
    if (object === undefined) return undefined;
    const status = current(object);
    return rollUp(status === undefined ? object : { ...object, status });
  }

  function refresh(key: ObjectKey): void {
    if (flushed !== undefined) return;
    const entry = entryOf(key);
    if (entry.writing) entry.isDirty = true;
    else if (!entry.queued) check(key, entry);
  }

  function refreshLater(key: ObjectKey): void {
    if (flushed !== undefined) return;
    const entry = entryOf(key);
    if (entry.writing) entry.isDirty = true;
    else if (!entry.queued) later(key, entry, refillMs);
  }

  /** Decides whether there is something to write, and when. */
  function check(key: ObjectKey, entry: Entry): void {
    const object = store.get(key);
    const next = desired(object);
    if (object === undefined || next === undefined || isDeepStrictEqual(object.status, next)) {
      settle(key, entry);
      return;
    }
    refill(entry);
    const isDue = flushed !== undefined || (entry.tokens >= 1 && isUrgent(object.status, next));
    if (isDue) enqueue(key, entry);
    else later(key, entry, refillMs);
  }

  function settle(key: ObjectKey, entry: Entry): void {
    published.delete(key);
    entry.timer?.cancel();
    entry.timer = undefined;
    refill(entry);
    // An object with a full bucket needs no entry: it is in the state of one that was never written or was deleted.
    const isFresh = entry.tokens >= burst && entry.failures === 0;
    if (isFresh || store.get(key) === undefined) entries.delete(key);
    options.onSettled?.(key);
  }

  function refill(entry: Entry): void {
    const gained = Math.floor((clock.monotonic() - entry.refilledAt) / refillMs);
    if (gained <= 0) return;
    entry.tokens = Math.min(burst, entry.tokens + gained);
    entry.refilledAt += gained * refillMs;
  }

  function later(key: ObjectKey, entry: Entry, delayMs: number): void {
    const at = clock.monotonic() + delayMs;
    if (entry.timer !== undefined && entry.timerAt <= at) return;
    entry.timer?.cancel();
    entry.timerAt = at;
    entry.timer = clock.setTimeout(() => {
      entry.timer = undefined;
      if (!entry.writing && !entry.queued) enqueue(key, entry);
    }, delayMs);
  }

  function enqueue(key: ObjectKey, entry: Entry): void {
    entry.timer?.cancel();
    entry.timer = undefined;
    entry.queued = true;
    waiting.push(key);
    pump();
  }

  function pump(): void {
    while (active < concurrency) {
      const key = waiting.shift();
      if (key === undefined) return;
      const entry = entryOf(key);
      entry.queued = false;
      entry.writing = true;
      active += 1;
      void write(key, entry).finally(() => {
        active -= 1;
        entry.writing = false;
        const again = entry.isDirty;
        entry.isDirty = false;
        if (entry.failures === 0) {
          if (again) check(key, entry);
          else settle(key, entry);
        } else if (flushed === undefined) {
          later(key, entry, Math.min(longestBackoffMs, 100 * 2 ** entry.failures));
        }
        pump();
        if (active === 0) flushed?.resolve();
      });
    }
  }

  /** Never rejects: what failed is seen from `failures`. */
  async function write(key: ObjectKey, entry: Entry): Promise<void> {
    entry.tokens -= 1;
    let object = store.get(key);
    try {
      for (let attempt = 1; ; attempt += 1) {
        const next = desired(object);
        if (object === undefined || next === undefined || isDeepStrictEqual(object.status, next))
          break;
        try {
          store.wrote(
            await rest.replace(resource, { ...object, status: next }, { subresource: "status" }),
          );
          break;
        } catch (thrown) {
          if (!isConflict(thrown) || attempt === mostAttempts) throw thrown;
          // The object was written since our cache saw it: read it and roll up again.
          object = await rest.get(resource, refOf(key));
        }
      }
      entry.failures = 0;
    } catch (thrown) {
      if (isNotFound(thrown)) {
        entry.failures = 0;
        return;
      }
      entry.failures = Math.min(entry.failures + 1, 10);
      log.warn(
        { kind: resource.kind, key, err: AppError.from(thrown).message },
        flushed === undefined ? "status update failed, retrying" : "status update failed, dropped",
      );
    }
  }

  function flush(): Promise<void> {
    if (flushed !== undefined) return flushed.promise;
    flushed = Promise.withResolvers();
    for (const [key, entry] of entries) {
      if (entry.timer !== undefined) enqueue(key, entry);
    }
    if (active === 0) flushed.resolve();
    return flushed.promise;
  }

  return { current, publish, refresh, refreshLater, flush };
}
