/**
 * Decides when an object is written, with few writes. Each object has a token bucket (`burst`, one more token each `refillMs`): an
 * urgent change is written while there are tokens, everything else waits up to `refillMs`, and the last state is always
 * written. There is never more than one write of an object in flight.
 */
import {
  backoffDelayMs,
  createSemaphore,
  createTokenBucket,
  type Semaphore,
  type TokenBucket,
} from "@flotilla/shared/concurrency";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Clock, Timer } from "@flotilla/shared/time";

export interface WriteQueueOptions {
  /** Which write of an object is due now. */
  readonly pending: (key: ObjectKey) => "nothing" | "progress" | "urgent";
  /** Writes what is pending; false: it failed, and is retried. Never rejects. */
  readonly write: (key: ObjectKey) => Promise<boolean>;
  /** Called after a write, and when there was nothing to write. */
  readonly onSettled: (key: ObjectKey) => void;
  /** Whether the object exists; others have no state. */
  readonly exists: (key: ObjectKey) => boolean;
  readonly clock: Clock;
  readonly burst: number;
  readonly refillMs: number;
  /** Writes in flight at the same time, over all objects. */
  readonly concurrency: number;
  /** Limits writes that go first: progress waits for a free permit, urgent changes do not. By default nothing goes first. */
  readonly goesFirst?: Pick<Semaphore, "available"> | undefined;
}

export interface WriteQueue {
  /** Something changed. */
  refresh(key: ObjectKey): void;
  /** The same for changes that arrive by the thousand: `pending` is called within `refillMs`. */
  refreshLater(key: ObjectKey): void;
  /** Stops accepting objects, writes what is pending, once each, and resolves when no write is in flight. */
  flush(): Promise<void>;
  readonly isFlushing: boolean;
}

const retryBackoff = { firstMs: 200, longestMs: 30_000 };

interface Entry {
  readonly tokens: TokenBucket;
  /** `deferred`: due, and waits for what goes first. */
  state: "idle" | "deferred" | "queued" | "writing";
  /** Something changed while a write was in flight. */
  isDirty: boolean;
  failures: number;
  timer: Timer | undefined;
  /** Monotonic, ms. */
  timerAt: number;
}

export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const { clock, burst, refillMs, goesFirst } = options;
  const entries = new Map<ObjectKey, Entry>();
  const writes = createSemaphore(options.concurrency);
  /** Queued or in flight. */
  let outstanding = 0;
  const limits = { clock, burst, perSecond: 1_000 / refillMs };
  /** Set while there are settled objects whose tokens are not all back. */
  let sweeping: Timer | undefined;
  /** Set when no more objects are accepted. */
  let flushed: PromiseWithResolvers<void> | undefined;

  function entryOf(key: ObjectKey): Entry {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const fresh: Entry = {
      tokens: createTokenBucket(limits),
      state: "idle",
      isDirty: false,
      failures: 0,
      timer: undefined,
      timerAt: 0,
    };
    entries.set(key, fresh);
    return fresh;
  }

  function changed(key: ObjectKey, next: (key: ObjectKey, entry: Entry) => void): void {
    if (flushed !== undefined) return;
    const entry = entryOf(key);
    if (entry.state === "writing") entry.isDirty = true;
    else if (entry.state !== "queued") next(key, entry);
  }

  function check(key: ObjectKey, entry: Entry): void {
    const pending = options.pending(key);
    if (pending === "nothing") settle(key, entry);
    else if (flushed !== undefined || (pending === "urgent" && entry.tokens.has()))
      enqueue(key, entry);
    else later(key, entry, refillMs);
  }

  function settle(key: ObjectKey, entry: Entry): void {
    entry.timer?.cancel();
    entry.timer = undefined;
    entry.state = "idle";
    if (isFresh(entry) || !options.exists(key)) entries.delete(key);
    else sweepLater();
    options.onSettled(key);
  }

  /** Forgets what needs nothing to be known of it: there may be one for each cluster, and most are written once in a while. */
  function sweepLater(): void {
    if (sweeping !== undefined || flushed !== undefined) return;
    sweeping = clock.setTimeout(() => {
      sweeping = undefined;
      for (const [key, entry] of entries)
        if (isFresh(entry)) entries.delete(key);
        else if (isSettled(entry)) sweepLater();
    }, burst * refillMs);
  }

  function later(key: ObjectKey, entry: Entry, delayMs: number): void {
    if (entry.state === "deferred") return;
    const at = clock.monotonic() + delayMs;
    if (entry.timer !== undefined && entry.timerAt <= at) return;
    entry.timer?.cancel();
    entry.timerAt = at;
    entry.timer = clock.setTimeout(() => {
      entry.timer = undefined;
      if (entry.state === "idle") defer(key, entry);
    }, delayMs);
  }

  function defer(key: ObjectKey, entry: Entry): void {
    if (goesFirst === undefined) {
      enqueue(key, entry);
      return;
    }
    entry.state = "deferred";
    void goesFirst.available().then(() => {
      if (entry.state === "deferred") enqueue(key, entry);
    });
  }

  function enqueue(key: ObjectKey, entry: Entry): void {
    entry.timer?.cancel();
    entry.timer = undefined;
    entry.state = "queued";
    outstanding += 1;
    void writes.run(() => write(key, entry)).finally(() => written(key, entry));
  }

  async function write(key: ObjectKey, entry: Entry): Promise<void> {
    entry.state = "writing";
    entry.tokens.reserve();
    entry.failures = (await options.write(key)) ? 0 : entry.failures + 1;
  }

  function written(key: ObjectKey, entry: Entry): void {
    const { isDirty, failures } = entry;
    outstanding -= 1;
    entry.state = "idle";
    entry.isDirty = false;
    if (failures === 0 && isDirty) check(key, entry);
    else if (failures === 0) settle(key, entry);
    else if (flushed === undefined) later(key, entry, backoffDelayMs(retryBackoff, failures));
    if (outstanding === 0) flushed?.resolve();
  }

  return {
    refresh: (key) => changed(key, check),
    refreshLater: (key) => changed(key, (_, entry) => later(key, entry, refillMs)),
    get isFlushing() {
      return flushed !== undefined;
    },
    flush() {
      if (flushed !== undefined) return flushed.promise;
      flushed = Promise.withResolvers();
      sweeping?.cancel();
      for (const [key, entry] of entries) {
        if (entry.timer !== undefined || entry.state === "deferred") enqueue(key, entry);
      }
      if (outstanding === 0) flushed.resolve();
      return flushed.promise;
    },
  };
}

function isSettled({ state, timer, failures }: Entry): boolean {
  return state === "idle" && timer === undefined && failures === 0;
}

/** As one that was never written: all its tokens are there. */
function isFresh(entry: Entry): boolean {
  return isSettled(entry) && entry.tokens.isFull;
}
