/**
 * Writes the status of one kind of object, level-triggered and sparingly.
 *
 * `mark` says that an object's inputs changed. The status is then computed from what is known at the time of writing,
 * so that a hundred marks may end in one write. Each object has a bucket of tokens (`burst` at once, one more each
 * `refillMs`): a verdict (`isUrgent`) is written while there are tokens, everything else waits up to `refillMs`, and the
 * last state is always written. There is never more than one write of an object on its way.
 */

import { isDeepStrictEqual } from "node:util";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isConflict, isNotFound } from "@flotilla/shared/kube/client/status-error.ts";
import {
  type KubeObject,
  type ObjectKey,
  type Resource,
  refOf,
} from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";

export interface WithStatus<S> extends KubeObject {
  readonly status?: S | undefined;
}

export interface StatusWriterOptions<S, T extends WithStatus<S>> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  readonly store: Store<T>;
  /** The status that an object should have now; `undefined`: none can be told yet. Pure but for reading caches. */
  readonly compute: (object: T) => S | undefined;
  readonly isUrgent: (before: S | undefined, after: S) => boolean;
  /** Called after a write, and when there was nothing to write. */
  readonly onSettled?: (key: ObjectKey) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly burst?: number;
  readonly refillMs?: number;
  /** Writes on their way at the same time, over all objects. */
  readonly concurrency?: number;
}

export interface StatusWriter {
  mark(key: ObjectKey): void;
  /** For inputs that nobody waits for: costs nothing but a timer, and is told within `refillMs`. */
  markLater(key: ObjectKey): void;
  /**
   * Stops taking marks, writes what waits, and resolves when nothing is on its way. What cannot be written now is given
   * up: an API server that is away, or a leadership that is lost, must not keep a process from ending.
   */
  flush(): Promise<void>;
}

/** How often a write is tried at once when somebody else is faster. */
const mostAttempts = 3;

const longestBackoffMs = 30_000;

interface Entry {
  tokens: number;
  /** Monotonic, ms. */
  refilledAt: number;
  writing: boolean;
  markedWhileWriting: boolean;
  queued: boolean;
  failures: number;
  timer: Timer | undefined;
  timerAt: number;
}

export function createStatusWriter<S, T extends WithStatus<S>>(
  options: StatusWriterOptions<S, T>,
): StatusWriter {
  const { rest, resource, store, compute, isUrgent, clock, log } = options;
  const burst = options.burst ?? 5;
  const refillMs = options.refillMs ?? 1_000;
  const concurrency = options.concurrency ?? 32;
  const entries = new Map<ObjectKey, Entry>();
  const waiting: ObjectKey[] = [];
  let active = 0;
  /** Set once nothing new is taken; resolved when nothing is on its way. */
  let flushed: PromiseWithResolvers<void> | undefined;

  function entryOf(key: ObjectKey): Entry {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const fresh: Entry = {
      tokens: burst,
      refilledAt: clock.monotonic(),
      writing: false,
      markedWhileWriting: false,
      queued: false,
      failures: 0,
      timer: undefined,
      timerAt: 0,
    };
    entries.set(key, fresh);
    return fresh;
  }

  function mark(key: ObjectKey): void {
    if (flushed !== undefined) return;
    const entry = entryOf(key);
    if (entry.writing) entry.markedWhileWriting = true;
    else if (!entry.queued) look(key, entry);
  }

  function markLater(key: ObjectKey): void {
    if (flushed !== undefined) return;
    const entry = entryOf(key);
    if (entry.writing) entry.markedWhileWriting = true;
    else if (!entry.queued) later(key, entry, refillMs);
  }

  /** Decides whether there is something to write, and when. */
  function look(key: ObjectKey, entry: Entry): void {
    const object = store.get(key);
    const next = object === undefined ? undefined : compute(object);
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
    entry.timer?.cancel();
    entry.timer = undefined;
    refill(entry);
    // A full bucket is the state of an object that was never written: nothing to remember, nor of one that is gone.
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
        const again = entry.markedWhileWriting;
        entry.markedWhileWriting = false;
        if (entry.failures === 0) {
          if (again) look(key, entry);
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
        const next = object === undefined ? undefined : compute(object);
        if (object === undefined || next === undefined || isDeepStrictEqual(object.status, next))
          break;
        try {
          store.wrote(
            await rest.replace(resource, { ...object, status: next }, { subresource: "status" }),
          );
          break;
        } catch (thrown) {
          if (!isConflict(thrown) || attempt === mostAttempts) throw thrown;
          // Somebody wrote the object since our cache saw it: take the newest and decide again.
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
        flushed === undefined
          ? "status was not written, it is tried again"
          : "status was not written, and is given up",
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

  return { mark, markLater, flush };
}
