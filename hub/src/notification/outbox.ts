/**
 * What is to be delivered, in a Secret of the hub's namespace for each Provider, so that a process that is killed loses nothing.
 * Every replica adds to it, and the leader delivers and removes. A Provider that never answers fills its own outbox only. Changes
 * that arrive while a write is in progress are one more write.
 */
import { backoffDelayMs, withJitter } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { keyOf, type ObjectKey, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, delay } from "@flotilla/shared/time";
import {
  changeEntries,
  entriesOf,
  type OutboxEntry,
  type OutboxLimits,
  outboxLabel,
  outboxName,
  outboxSecret,
  providerOf,
} from "./outbox-record.ts";

export interface Outbox {
  /** Stores an entry; resolves once it is stored, or was dropped. Never rejects. */
  add(provider: ObjectKey, entry: OutboxEntry): Promise<void>;
  /** Removes an entry with the next write, within some seconds. */
  remove(provider: ObjectKey, id: string): void;
  /** What is stored and not removed, oldest first. */
  entries(provider: ObjectKey): readonly OutboxEntry[];
  providers(): readonly ObjectKey[];
  /** Calls with the Provider of an outbox that has changed. */
  onChange(listener: (provider: ObjectKey) => void): () => void;
  /** Lists again what other replicas have added. */
  refresh(signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
  /** Writes what waits; gives up after the first failure. */
  flush(): Promise<void>;
}

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
export const outboxLimits: OutboxLimits = { entries: 500, bytes: 384 * 1024 };

/** Removals wait for more of them. */
const removalMs = 1_000;
const backoff = { firstMs: 500, longestMs: 30_000 };
const mostConflicts = 10;

interface Box {
  readonly provider: ObjectKey;
  readonly add: Map<string, OutboxEntry>;
  readonly remove: Set<string>;
  /** Those that wait until it is written. */
  waiting: (() => void)[];
  writing: Promise<void> | undefined;
  isTimed: boolean;
}

export function createOutbox(deps: OutboxDeps): Outbox {
  const { rest, namespace, clock, log, limits = outboxLimits } = deps;
  const boxes = new Map<ObjectKey, Box>();
  const ending = new AbortController();
  const informer = createInformer<Secret>({
    rest,
    resource: secrets,
    namespace,
    labelSelector: `${outboxLabel}=true`,
    log: log.child({ cache: "notification outbox" }),
    clock,
  });
  const listeners = new Set<(provider: ObjectKey) => void>();

  function notify(provider: ObjectKey): void {
    for (const listener of listeners) listener(provider);
  }

  informer.onChange(({ before, after }) => {
    const secret = after ?? before;
    if (secret !== undefined) notify(providerOf(secret));
  });

  function boxOf(provider: ObjectKey): Box {
    const box = boxes.get(provider) ?? {
      provider,
      add: new Map(),
      remove: new Set(),
      waiting: [],
      writing: undefined,
      isTimed: false,
    };
    boxes.set(provider, box);
    return box;
  }

  function stored(provider: ObjectKey): Secret | undefined {
    return informer.store.get(keyOf({ namespace, name: outboxName(provider) }));
  }

  function start(box: Box): Promise<void> {
    box.writing ??= writeAll(box).finally(() => {
      box.writing = undefined;
      if (box.add.size > 0 && !ending.signal.aborted) void start(box);
      else if (box.remove.size > 0) later(box);
      // While it is timed it is kept: its timer would otherwise delete the next one, with what that has to remove.
      else if (box.waiting.length === 0 && !box.isTimed) boxes.delete(box.provider);
    });
    return box.writing;
  }

  function later(box: Box): void {
    if (box.isTimed || ending.signal.aborted) return;
    box.isTimed = true;
    clock.setTimeout(() => {
      box.isTimed = false;
      void start(box);
    }, removalMs);
  }

  /** Never rejects. */
  async function writeAll(box: Box): Promise<void> {
    for (let failures = 0; box.add.size + box.remove.size > 0; ) {
      const [adding, removing] = [[...box.add.values()], new Set(box.remove)];
      const waiting = box.waiting.splice(0);
      try {
        await write(box.provider, { add: adding, remove: removing });
        for (const { id } of adding) box.add.delete(id);
        for (const id of removing) box.remove.delete(id);
        for (const resolve of waiting) resolve();
        notify(box.provider);
        failures = 0;
      } catch (thrown) {
        box.waiting.unshift(...waiting);
        failures += 1;
        log.warn(
          { provider: box.provider, err: messageOf(thrown) },
          "cannot store notifications; retrying",
        );
        if (ending.signal.aborted) {
          for (const resolve of box.waiting.splice(0)) resolve();
          return;
        }
        await delay(
          clock,
          withJitter(backoffDelayMs(backoff, failures), Math.random()),
          ending.signal,
        );
      }
    }
  }

  async function write(
    provider: ObjectKey,
    change: Parameters<typeof changeEntries>[1],
  ): Promise<void> {
    const ref = { namespace, name: outboxName(provider) };
    let found = stored(provider);
    for (let attempt = 1; ; attempt += 1) {
      const before = entriesOf(found);
      const { entries, dropped } = changeEntries(before, change, limits);
      try {
        if (found === undefined) {
          if (entries.length > 0)
            informer.store.wrote(
              await rest.create(secrets, outboxSecret({ namespace, provider }, entries)),
            );
        } else {
          const desired = outboxSecret({ namespace, provider }, entries);
          const { metadata } = found;
          if (entries.length !== before.length || change.add.length > 0)
            informer.store.wrote(
              await rest.replace(secrets, {
                ...desired,
                metadata: { ...metadata, ...desired.metadata },
              }),
            );
        }
        if (dropped.length > 0) deps.onDropped(provider, dropped);
        return;
      } catch (thrown) {
        const isStale = isConflict(thrown) || isAlreadyExists(thrown) || isNotFound(thrown);
        if (!isStale || attempt === mostConflicts) throw thrown;
        // Another replica has written it since our cache saw it.
        found = await rest.get(secrets, ref);
      }
    }
  }

  return {
    add(provider, entry) {
      const box = boxOf(provider);
      box.add.set(entry.id, entry);
      return new Promise((resolve) => {
        box.waiting.push(resolve);
        void start(box);
      });
    },
    remove(provider, id) {
      const box = boxOf(provider);
      box.remove.add(id);
      if (box.writing === undefined) later(box);
    },
    entries(provider) {
      const removed = boxes.get(provider)?.remove;
      return entriesOf(stored(provider)).filter(({ id }) => removed?.has(id) !== true);
    },
    providers: () => informer.store.list().map(providerOf),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    refresh: informer.refresh,
    run: (signal) => informer.run(signal),
    async flush() {
      ending.abort();
      await Promise.all([...boxes.values()].map(start));
    },
  };
}
