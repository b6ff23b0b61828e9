/**
 * Publishes the status of one kind of object, level-triggered and with few writes. `publish` sets what a reconcile
 * decided, `refresh` announces changed inputs of the summary. The summary is computed when the status is written, so a
 * hundred calls may end in one write. A status that is published and not written yet is a write-behind cache: losing it
 * is the same as a crash before the write, after which the reconcile decides it again. `write-queue.ts` decides when it
 * is written.
 */

import { isDeepStrictEqual } from "node:util";
import type { Semaphore } from "@flotilla/shared/concurrency";
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
import type { Clock } from "@flotilla/shared/time";
import { createWriteQueue } from "./write-queue.ts";

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
  /**
   * Called before a write, with the object as it is on the API server, and again when the write is repeated, also by another
   * process.
   */
  readonly beforeWrite?: ((object: T, next: S) => void) | undefined;
  /** Called after a write, and when there was nothing to write. */
  readonly onSettled?: (key: ObjectKey) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly burst?: number;
  readonly refillMs?: number;
  /** Writes in flight at the same time, over all objects. */
  readonly concurrency?: number;
  /** Limits writes of other objects that go before progress; urgent changes do not wait for them. */
  readonly goesFirst?: Pick<Semaphore, "available"> | undefined;
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

/** A published status that is not written yet, and the object that it is for: a new object of the same name has none. */
interface Published<S> {
  readonly uid: string | undefined;
  readonly status: S;
}

export function createPublisher<S, T extends WithStatus<S>>(
  options: PublisherOptions<S, T>,
): Publisher<S, T> {
  const { rest, resource, store, log } = options;
  const published = new Map<ObjectKey, Published<S>>();
  const queue = createWriteQueue({
    pending,
    write,
    onSettled(key) {
      published.delete(key);
      options.onSettled?.(key);
    },
    exists: (key) => store.get(key) !== undefined,
    clock: options.clock,
    burst: options.burst ?? 5,
    refillMs: options.refillMs ?? 1_000,
    concurrency: options.concurrency ?? 32,
    goesFirst: options.goesFirst,
  });

  function current(object: T): S | undefined {
    const waiting = published.get(keyOf(object));
    return waiting !== undefined && waiting.uid === object.metadata.uid
      ? waiting.status
      : object.status;
  }

  /** The status to write; undefined when the object has it, or does not exist. */
  function changedStatus(object: T | undefined): S | undefined {
    if (object === undefined) return undefined;
    const status = current(object);
    const next = options.rollUp(status === undefined ? object : { ...object, status });
    return isDeepStrictEqual(object.status, next) ? undefined : next;
  }

  function pending(key: ObjectKey): "nothing" | "progress" | "urgent" {
    const object = store.get(key);
    const next = changedStatus(object);
    if (next === undefined) return "nothing";
    return options.isUrgent(object?.status, next) ? "urgent" : "progress";
  }

  async function write(key: ObjectKey): Promise<boolean> {
    try {
      await replace(key);
    } catch (thrown) {
      if (isNotFound(thrown)) return true;
      log.warn(
        { kind: resource.kind, key, err: AppError.from(thrown).message },
        queue.isFlushing ? "status update failed, dropped" : "status update failed, retrying",
      );
      return false;
    }
    return true;
  }

  async function replace(key: ObjectKey): Promise<void> {
    let object = store.get(key);
    for (let attempt = 1; ; attempt += 1) {
      const next = changedStatus(object);
      if (object === undefined || next === undefined) return;
      options.beforeWrite?.(object, next);
      try {
        const desired = { ...object, status: next };
        store.wrote(await rest.replace(resource, desired, { subresource: "status" }));
        return;
      } catch (thrown) {
        if (!isConflict(thrown) || attempt === mostAttempts) throw thrown;
        // The object was written since our cache saw it: read it and roll up again.
        object = await rest.get(resource, refOf(key));
      }
    }
  }

  return {
    current,
    publish(object, status) {
      const key = keyOf(object);
      published.set(key, { uid: object.metadata.uid, status });
      queue.refresh(key);
    },
    refresh: (key) => queue.refresh(key),
    refreshLater: (key) => queue.refreshLater(key),
    flush: () => queue.flush(),
  };
}
