/**
 * What is to be delivered, in a Secret of the hub's namespace for each Provider, so that a process that is killed loses nothing.
 * Every replica adds to it, and the leader delivers and removes. A Provider that never answers fills its own outbox only.
 */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { OutboxEntry, OutboxLimits } from "./outbox-record.ts";
import { OutboxStore } from "./outbox-store.ts";
import { PendingChange } from "./pending-change.ts";

export interface OutboxDeps {
  readonly rest: KubeRest;
  readonly namespace: string;
  readonly limits?: OutboxLimits;
  /** Called with the entries that a full outbox has dropped. */
  readonly onDropped: (provider: ObjectKey, entries: readonly OutboxEntry[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** About 500 events; etcd takes objects of 1.5 MiB, and each change writes all of it. */
const outboxLimits: OutboxLimits = { entries: 500, bytes: 384 * 1024 };

export class Outbox {
  readonly #store: OutboxStore;
  readonly #clock: Clock;
  readonly #log: Log;
  /** By Provider, while there is something to write. */
  readonly #pending = new Map<ObjectKey, PendingChange>();
  readonly #ending = new AbortController();
  readonly #listeners = new Set<(provider: ObjectKey) => void>();

  constructor({ limits = outboxLimits, ...deps }: OutboxDeps) {
    this.#store = new OutboxStore({ ...deps, limits });
    this.#store.onChange((provider) => this.#notify(provider));
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Stores an entry; resolves once it is stored, or was dropped: by a full outbox, or at the end of the hub. Never rejects. */
  add(provider: ObjectKey, entry: OutboxEntry): Promise<void> {
    return this.#pendingOf(provider).add(entry);
  }

  /** Removes an entry with the next write, within some seconds; `entries` has it no more. After a crash it may be there again. */
  remove(provider: ObjectKey, id: string): void {
    this.#pendingOf(provider).remove(id);
  }

  /** What is stored and not removed, oldest first. */
  entries(provider: ObjectKey): readonly OutboxEntry[] {
    const pending = this.#pending.get(provider);
    return this.#store.entries(provider).filter(({ id }) => pending?.isRemoved(id) !== true);
  }

  /** Those with an outbox, also an empty one. */
  providers(): readonly ObjectKey[] {
    return this.#store.providers();
  }

  /** Calls with the Provider of an outbox that has changed; returns the function that removes the listener. */
  onChange(listener: (provider: ObjectKey) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Lists again what other replicas have added: resolves after that, or when `signal` aborts. */
  refresh(signal: AbortSignal): Promise<void> {
    return this.#store.refresh(signal);
  }

  /** Watches what other replicas add, until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#store.run(signal);
  }

  /**
   * Writes what waits, and gives up after the first failure: those that wait for an entry continue, and the entry is lost. For the
   * end of the hub: afterwards nothing is retried or removed. Never rejects.
   */
  async flush(): Promise<void> {
    this.#ending.abort();
    await Promise.all([...this.#pending.values()].map((pending) => pending.flush()));
  }

  #pendingOf(provider: ObjectKey): PendingChange {
    const known = this.#pending.get(provider);
    if (known !== undefined) return known;
    const pending = new PendingChange({
      write: (change) => this.#store.write(provider, change),
      onWritten: () => this.#notify(provider),
      onEmpty: () => this.#pending.delete(provider),
      ending: this.#ending.signal,
      clock: this.#clock,
      log: this.#log.child({ provider }),
    });
    this.#pending.set(provider, pending);
    return pending;
  }

  #notify(provider: ObjectKey): void {
    for (const listener of this.#listeners) listener(provider);
  }
}
