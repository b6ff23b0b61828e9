/**
 * What is to be written to the outbox of one Provider: entries at once, removals after a moment, for there are more of them. What
 * arrives while a write is in progress is one more write. A write that fails is repeated until the hub ends.
 */
import { backoffDelayMs, withJitter } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { type Clock, delay } from "@flotilla/shared/time";
import type { OutboxChange, OutboxEntry } from "./outbox-record.ts";

export interface PendingChangeDeps {
  /** A change may be written again after it has rejected. */
  readonly write: (change: OutboxChange) => Promise<void>;
  /** Called after each write. */
  readonly onWritten: () => void;
  /** Called when nothing is to be written. */
  readonly onEmpty: () => void;
  /** Once it aborts, nothing is written by itself, and the first failure is the last. */
  readonly ending: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

/** Removals wait for more of them. */
const removalMs = 1_000;
const backoff = { firstMs: 500, longestMs: 30_000 };

export class PendingChange {
  readonly #deps: PendingChangeDeps;
  readonly #add = new Map<string, OutboxEntry>();
  readonly #remove = new Set<string>();
  /** Those that wait until it is written. */
  readonly #waiting: (() => void)[] = [];
  #writing: Promise<void> | undefined;
  #isTimed = false;

  constructor(deps: PendingChangeDeps) {
    this.#deps = deps;
  }

  /** Resolves once the entry is written, or given up when the hub ends. Never rejects. */
  add(entry: OutboxEntry): Promise<void> {
    this.#add.set(entry.id, entry);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      void this.flush();
    });
  }

  /** Removes an entry with the next write, at the latest after a second. */
  remove(id: string): void {
    this.#remove.add(id);
    if (this.#writing === undefined) this.#flushLater();
  }

  isRemoved(id: string): boolean {
    return this.#remove.has(id);
  }

  /** Writes what waits; callers of the same time share the writes. Never rejects. */
  flush(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      this.#scheduleNext();
    });
    return this.#writing;
  }

  #scheduleNext(): void {
    if (this.#add.size > 0 && !this.#deps.ending.aborted) void this.flush();
    else if (this.#remove.size > 0) this.#flushLater();
    // While it is timed it is kept: its timer would otherwise write for the next one, with what that has to remove.
    else if (this.#waiting.length === 0 && !this.#isTimed) this.#deps.onEmpty();
  }

  #flushLater(): void {
    const { clock, ending } = this.#deps;
    if (this.#isTimed || ending.aborted) return;
    this.#isTimed = true;
    clock.setTimeout(() => {
      this.#isTimed = false;
      void this.flush();
    }, removalMs);
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    const { ending, clock, log } = this.#deps;
    for (let failures = 0; this.#add.size + this.#remove.size > 0; ) {
      try {
        await this.#writeOnce();
        failures = 0;
      } catch (thrown) {
        failures += 1;
        log.warn({ err: messageOf(thrown) }, "cannot store notifications; retrying");
        if (ending.aborted) {
          this.#release(this.#waiting.splice(0));
          return;
        }
        await delay(clock, withJitter(backoffDelayMs(backoff, failures), Math.random()), ending);
      }
    }
  }

  async #writeOnce(): Promise<void> {
    const [adding, removing] = [[...this.#add.values()], new Set(this.#remove)];
    const waiting = this.#waiting.splice(0);
    try {
      await this.#deps.write({ add: adding, remove: removing });
    } catch (thrown) {
      this.#waiting.unshift(...waiting);
      throw thrown;
    }
    for (const { id } of adding) this.#add.delete(id);
    for (const id of removing) this.#remove.delete(id);
    this.#release(waiting);
    this.#deps.onWritten();
  }

  #release(waiting: readonly (() => void)[]): void {
    for (const resolve of waiting) resolve();
  }
}
