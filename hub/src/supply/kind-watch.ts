/**
 * The objects of one kind in one namespace, of which some are named. Those are kept whole and packed; of the others it is
 * known that they are there, and nothing else is kept.
 */
import type { ObjectRefKind } from "@flotilla/proto/messages.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { createInformer, dropBulk } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { configMaps, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { keyOf, type Resource, refOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { packReferencedObject } from "@flotilla/shared/referenced/referenced-object.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";
import {
  type Kept,
  supplyObjectOf,
  type WorkspaceObject,
  watchedFields,
  withoutContent,
} from "./workspace-object.ts";

export interface KindWatchOptions {
  readonly rest: KubeRest;
  readonly kind: ObjectRefKind;
  readonly namespace: string;
  /** Told the name of an object of which something else is known than before. */
  readonly onChange: (name: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface KindWatch {
  /** How many are named. */
  readonly size: number;
  name(name: string): void;
  unname(name: string): void;
  get(name: string): WorkspaceObject;
  /** Resolves once something is known of it; rejects when it cannot be had, or when the watch ends. */
  known(name: string): Promise<WorkspaceObject>;
  run(signal: AbortSignal): Promise<void>;
}

interface Named {
  known: WorkspaceObject;
  /** Of the last time that it was looked at. */
  failure: AppError | undefined;
  /** It changed since it was looked at. */
  isDirty: boolean;
  isBusy: boolean;
  failures: number;
  timer?: Timer;
  readonly waiting: Set<PromiseWithResolvers<WorkspaceObject>>;
}

const unknown: WorkspaceObject = { kind: "unknown" };
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

export function createKindWatch(options: KindWatchOptions): KindWatch {
  const { rest, kind, namespace, onChange, clock } = options;
  const log = options.log.child({ workspace: namespace });
  // Both kinds have the fields of either, or none in their place.
  const resource: Resource<Kept> = kind === "Secret" ? secrets : configMaps;
  const fieldSelector = watchedFields(kind);
  const named = new Map<string, Named>();
  /** Of the objects in the store: those that were not named when they came. */
  const bare = new WeakSet<Kept>();
  let listFailure: AppError | undefined;

  const informer = createInformer<Kept>({
    rest,
    resource,
    namespace,
    ...(fieldSelector !== undefined && { fieldSelector }),
    log,
    clock,
    transform(object) {
      if (named.has(object.metadata.name)) return dropBulk(object);
      const without = withoutContent(object);
      bare.add(without);
      return without;
    },
    onListed(failure) {
      listFailure = failure;
      for (const [name, entry] of named) {
        if (failure === undefined) look(name);
        else if (entry.known.kind === "unknown") fail(entry, failure);
      }
    },
  });
  informer.onChange(({ key }) => look(refOf(key).name));

  function look(name: string): void {
    const entry = named.get(name);
    if (entry === undefined || !informer.hasSynced) return;
    entry.isDirty = true;
    if (!entry.isBusy) void lookUntilClean(name, entry);
  }

  /** Never rejects. */
  async function lookUntilClean(name: string, entry: Named): Promise<void> {
    entry.isBusy = true;
    entry.timer?.cancel();
    try {
      while (entry.isDirty && named.get(name) === entry) {
        entry.isDirty = false;
        settle(name, entry, await read(name));
      }
    } catch (thrown) {
      const retryMs = Math.min(longestRetryMs, firstRetryMs * 2 ** entry.failures);
      entry.failures += 1;
      log.warn({ kind, name, err: messageOf(thrown), retryMs }, "object could not be read");
      entry.failure = AppError.from(thrown);
      fail(entry, entry.failure);
      entry.timer = clock.setTimeout(() => look(name), retryMs);
    } finally {
      entry.isBusy = false;
    }
  }

  async function read(name: string): Promise<WorkspaceObject> {
    const stored = informer.store.get(keyOf({ namespace, name }));
    // It was named only after it had come.
    const isBare = stored !== undefined && bare.has(stored);
    const found = isBare ? await rest.get(resource, { namespace, name }) : stored;
    if (found === undefined) return { kind: "absent" };
    const object = supplyObjectOf(isBare ? dropBulk(found) : found);
    const packed = await packReferencedObject(object);
    return { kind: "present", digest: packed.digest, packed, object };
  }

  function settle(name: string, entry: Named, known: WorkspaceObject): void {
    entry.failures = 0;
    entry.failure = undefined;
    if (isSame(entry.known, known) || named.get(name) !== entry) return;
    entry.known = known;
    for (const waiter of entry.waiting) waiter.resolve(known);
    entry.waiting.clear();
    onChange(name);
  }

  function fail(entry: Named, failure: Error): void {
    for (const waiter of entry.waiting) waiter.reject(failure);
    entry.waiting.clear();
  }

  return {
    get size() {
      return named.size;
    },
    name(name) {
      if (named.has(name)) return;
      named.set(name, {
        known: unknown,
        failure: undefined,
        isDirty: false,
        isBusy: false,
        failures: 0,
        waiting: new Set(),
      });
      look(name);
    },
    unname(name) {
      const entry = named.get(name);
      if (entry === undefined) return;
      entry.timer?.cancel();
      named.delete(name);
      fail(entry, new Error(`nothing names the ${kind} ${namespace}/${name} any more`));
    },
    get: (name) => named.get(name)?.known ?? unknown,
    async known(name) {
      const entry = named.get(name);
      if (entry === undefined) return unknown;
      if (entry.known.kind !== "unknown") return entry.known;
      const failure = listFailure ?? entry.failure;
      if (failure !== undefined) throw failure;
      const waiter = Promise.withResolvers<WorkspaceObject>();
      entry.waiting.add(waiter);
      return await waiter.promise;
    },
    async run(signal) {
      await informer.run(signal);
      for (const entry of named.values()) {
        entry.timer?.cancel();
        fail(entry, new Error(`${kind}s of ${namespace} are not followed any more`));
      }
    },
  };
}

function isSame(a: WorkspaceObject, b: WorkspaceObject): boolean {
  if (a.kind === "present" && b.kind === "present") return a.digest === b.digest;
  return a.kind === b.kind;
}
