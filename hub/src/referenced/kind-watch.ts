/** Watches the objects of one kind in one namespace. Referenced ones are kept whole and packed; of the others only the metadata. */

import type { ObjectRefKind } from "@flotilla/proto";
import { backoffDelayMs } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { createInformer, dropBulk } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, keyOf, type Resource, refOf, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { packReferencedObject, type ReferencedObjectData } from "@flotilla/shared/referenced";
import type { Clock, Timer } from "@flotilla/shared/time";
import {
  isOwnObject,
  referencedObjectOf,
  type StoredObject,
  type WorkspaceObject,
  watchedFields,
  withoutContent,
} from "./workspace-object.ts";

/**
 * What agents get of a Secret instead of the Secret itself, and when to make it again. Never rejects. The hub itself reads the
 * Secret as it is.
 */
export type ProjectSecret = (
  object: ReferencedObjectData,
) => Promise<{ readonly object: ReferencedObjectData; readonly renewInMs?: number }>;

export interface KindWatchOptions {
  readonly rest: KubeRest;
  readonly kind: ObjectRefKind;
  readonly namespace: string;
  /** Called with the name of an object whose observed state has changed. */
  readonly onChange: (name: string) => void;
  /** Default: agents get Secrets as they are. */
  readonly project?: ProjectSecret | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface KindWatch {
  /** How many are referenced. */
  readonly size: number;
  watch(name: string): void;
  unwatch(name: string): void;
  get(name: string): WorkspaceObject;
  /** Resolves once the object was read; rejects when it cannot be read, or when the watch ends. */
  known(name: string): Promise<WorkspaceObject>;
  run(signal: AbortSignal): Promise<void>;
}

interface Entry {
  known: WorkspaceObject;
  /** Of the last attempt to read it. */
  failure: AppError | undefined;
  /** It changed since it was last read. */
  isDirty: boolean;
  isBusy: boolean;
  failures: number;
  timer?: Timer;
  readonly waiting: Set<PromiseWithResolvers<WorkspaceObject>>;
}

const unknown: WorkspaceObject = { kind: "unknown" };
const backoff = { firstMs: 1_000, longestMs: 60_000 };

export function createKindWatch(options: KindWatchOptions): KindWatch {
  const { rest, kind, namespace, onChange, clock } = options;
  const log = options.log.child({ workspace: namespace });
  // Each kind has a subset of the fields of both.
  const resource: Resource<StoredObject> = kind === "Secret" ? secrets : configMaps;
  const fieldSelector = watchedFields(kind);
  const entries = new Map<string, Entry>();
  /** Objects in the store that were not referenced when they arrived, and lack their content. */
  const withoutData = new WeakSet<StoredObject>();
  let listFailure: AppError | undefined;

  const informer = createInformer<StoredObject>({
    rest,
    resource,
    namespace,
    ...(fieldSelector !== undefined && { fieldSelector }),
    log,
    clock,
    transform(object) {
      if (entries.has(object.metadata.name)) return dropBulk(object);
      const without = withoutContent(object);
      withoutData.add(without);
      return without;
    },
    onListed(failure) {
      listFailure = failure;
      for (const [name, entry] of entries) {
        if (failure === undefined) refresh(name);
        else if (entry.known.kind === "unknown") fail(entry, failure);
      }
    },
  });
  informer.onChange(({ key }) => refresh(refOf(key).name));

  function refresh(name: string): void {
    const entry = entries.get(name);
    if (entry === undefined || !informer.hasSynced) return;
    entry.isDirty = true;
    if (!entry.isBusy) void readUntilClean(name, entry);
  }

  /** Never rejects. */
  async function readUntilClean(name: string, entry: Entry): Promise<void> {
    entry.isBusy = true;
    entry.timer?.cancel();
    try {
      while (entry.isDirty && entries.get(name) === entry) {
        entry.isDirty = false;
        const { known, renewInMs } = await read(name);
        settle(name, entry, known);
        if (renewInMs !== undefined && entries.get(name) === entry)
          entry.timer = clock.setTimeout(() => refresh(name), renewInMs);
      }
    } catch (thrown) {
      entry.failures += 1;
      const retryMs = backoffDelayMs(backoff, entry.failures);
      log.warn(
        { kind, name, err: messageOf(thrown), retryMs },
        "cannot read a referenced object; retrying",
      );
      entry.failure = AppError.from(thrown);
      fail(entry, entry.failure);
      entry.timer = clock.setTimeout(() => refresh(name), retryMs);
    } finally {
      entry.isBusy = false;
    }
  }

  async function read(
    name: string,
  ): Promise<{ readonly known: WorkspaceObject; readonly renewInMs?: number | undefined }> {
    const stored = informer.store.get(keyOf({ namespace, name }));
    // Referenced only after it had arrived.
    const lacksData = stored !== undefined && withoutData.has(stored);
    const found = lacksData ? await rest.get(resource, { namespace, name }) : stored;
    if (found === undefined) return { known: { kind: "absent" } };
    if (isOwnObject(found)) {
      log.warn({ kind, name }, "a deployment refers to an object of the hub, which is never sent");
      return { known: { kind: "absent" } };
    }
    const object = referencedObjectOf(lacksData ? dropBulk(found) : found);
    const sent =
      kind === "Secret" && options.project !== undefined
        ? await options.project(object)
        : { object };
    const packed = await packReferencedObject(sent.object);
    const { resourceVersion = "" } = found.metadata;
    return {
      known: { kind: "present", digest: packed.digest, resourceVersion, packed, object },
      renewInMs: sent.renewInMs,
    };
  }

  function settle(name: string, entry: Entry, known: WorkspaceObject): void {
    entry.failures = 0;
    entry.failure = undefined;
    if (entries.get(name) !== entry) return;
    const isChanged = !isSame(entry.known, known);
    entry.known = known;
    if (!isChanged) return;
    for (const waiter of entry.waiting) waiter.resolve(known);
    entry.waiting.clear();
    onChange(name);
  }

  return {
    get size() {
      return entries.size;
    },
    watch(name) {
      if (entries.has(name)) return;
      entries.set(name, newEntry());
      refresh(name);
    },
    unwatch(name) {
      const entry = entries.get(name);
      if (entry === undefined) return;
      entry.timer?.cancel();
      entries.delete(name);
      fail(entry, new Error(`the ${kind} ${namespace}/${name} is no longer referenced`));
    },
    get: (name) => entries.get(name)?.known ?? unknown,
    async known(name) {
      const entry = entries.get(name);
      return entry === undefined ? unknown : await knownOf(entry, listFailure);
    },
    async run(signal) {
      await informer.run(signal);
      for (const entry of entries.values()) {
        entry.timer?.cancel();
        fail(entry, new Error(`the watch of ${kind}s in ${namespace} has ended`));
      }
    },
  };
}

function newEntry(): Entry {
  return {
    known: unknown,
    failure: undefined,
    isDirty: false,
    isBusy: false,
    failures: 0,
    waiting: new Set(),
  };
}

/** Rejects the callers that wait for the object. */
function fail(entry: Entry, failure: Error): void {
  for (const waiter of entry.waiting) waiter.reject(failure);
  entry.waiting.clear();
}

async function knownOf(entry: Entry, listFailure: AppError | undefined): Promise<WorkspaceObject> {
  if (entry.known.kind !== "unknown") return entry.known;
  const failure = listFailure ?? entry.failure;
  if (failure !== undefined) throw failure;
  const waiter = Promise.withResolvers<WorkspaceObject>();
  entry.waiting.add(waiter);
  return await waiter.promise;
}

function isSame(a: WorkspaceObject, b: WorkspaceObject): boolean {
  if (a.kind === "present" && b.kind === "present") return a.digest === b.digest;
  return a.kind === b.kind;
}
