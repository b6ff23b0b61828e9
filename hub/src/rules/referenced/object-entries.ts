/** The observed state of the referenced objects of one kind in one namespace: read when they have changed, one request at a time. */
import type { ObjectRefKind } from "@flotilla/proto";
import { type BackoffLimits, backoffDelayMs } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { dropBulk } from "@flotilla/shared/kube/cache";
import type { Log } from "@flotilla/shared/log";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import type { Clock, Timer } from "@flotilla/shared/time";
import { createSentObject } from "./sent-object.ts";
import {
  isNeverSent,
  referencedObjectOf,
  type StoredObject,
  type WorkspaceObject,
} from "./workspace-object.ts";

/**
 * What agents get of a Secret instead of the Secret itself, and when to make it again. Never rejects. The hub itself reads the
 * Secret as it is.
 */
export type ProjectSecret = (
  object: ReferencedObjectData,
) => Promise<{ readonly object: ReferencedObjectData; readonly renewInMs?: number }>;

export interface ObjectEntriesDeps {
  readonly kind: ObjectRefKind;
  readonly namespace: string;
  /** Called with the name of an object whose observed state has changed. */
  readonly onChange: (name: string) => void;
  /** Undefined: there is no such object. */
  readonly read: (name: string) => Promise<StoredObject | undefined>;
  /** Nothing is read before. */
  readonly isReady: () => boolean;
  /** Why nothing can be read now. */
  readonly failure: () => AppError | undefined;
  /** When an object that does not exist is read again, where no watch says that it was created. Absent: never. */
  readonly absentBackoff?: BackoffLimits;
  /** Default: agents get Secrets as they are. */
  readonly project?: ProjectSecret | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ObjectEntries {
  /** How many are referenced. */
  readonly size: number;
  names(): readonly string[];
  has(name: string): boolean;
  watch(name: string): void;
  unwatch(name: string): void;
  get(name: string): WorkspaceObject;
  /** Resolves once the object was read; rejects when it cannot be read, or when the watch ends. */
  known(name: string): Promise<WorkspaceObject>;
  /** Reads an object again. Never rejects; resolves when it was read or could not be. */
  refresh(name: string): Promise<void>;
  /** The failure of the last attempt to read an object. */
  failureOf(name: string): AppError | undefined;
  /** Rejects the callers that wait for objects that were never read. */
  failUnknown(failure: AppError): void;
  end(): void;
}

interface Entry {
  known: WorkspaceObject;
  /** The failure of the last attempt to read it. */
  failure: AppError | undefined;
  /** It changed since it was last read. */
  isDirty: boolean;
  /** While it is read. */
  reading: Promise<void> | undefined;
  failures: number;
  /** How often in a row it did not exist. */
  absences: number;
  timer?: Timer;
  readonly waiting: Set<PromiseWithResolvers<WorkspaceObject>>;
}

const unknown: WorkspaceObject = { kind: "unknown" };
const backoff = { firstMs: 1_000, longestMs: 60_000 };

export function createObjectEntries(deps: ObjectEntriesDeps): ObjectEntries {
  const { kind, namespace, onChange, clock, log } = deps;
  const entries = new Map<string, Entry>();

  async function refresh(name: string): Promise<void> {
    const entry = entries.get(name);
    if (entry === undefined || !deps.isReady()) return;
    entry.isDirty = true;
    entry.reading ??= readUntilClean(name, entry);
    await entry.reading;
  }

  /** Never rejects. */
  async function readUntilClean(name: string, entry: Entry): Promise<void> {
    entry.timer?.cancel();
    try {
      while (entry.isDirty && entries.get(name) === entry) {
        entry.isDirty = false;
        const { known, renewInMs } = await read(name);
        settle(name, entry, known);
        entry.timer?.cancel();
        entry.absences = known.kind === "absent" ? entry.absences + 1 : 0;
        const againInMs = renewInMs ?? absentDelayMs(entry);
        if (againInMs !== undefined && entries.get(name) === entry)
          entry.timer = clock.setTimeout(() => void refresh(name), againInMs);
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
      entry.timer = clock.setTimeout(() => void refresh(name), retryMs);
    } finally {
      entry.reading = undefined;
    }
  }

  function absentDelayMs({ absences }: Entry): number | undefined {
    if (deps.absentBackoff === undefined || absences === 0) return undefined;
    return backoffDelayMs(deps.absentBackoff, absences);
  }

  async function read(
    name: string,
  ): Promise<{ readonly known: WorkspaceObject; readonly renewInMs?: number | undefined }> {
    const found = await deps.read(name);
    if (found === undefined) return { known: { kind: "absent" } };
    if (isNeverSent(found)) {
      log.warn({ kind, name }, "a deployment refers to an object that is never sent");
      return { known: { kind: "absent" } };
    }
    const object = referencedObjectOf(dropBulk(found));
    const sent =
      kind === "Secret" && deps.project !== undefined ? await deps.project(object) : { object };
    const { resourceVersion = "" } = found.metadata;
    return {
      known: { kind: "present", resourceVersion, object, sent: createSentObject(sent.object) },
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
    names: () => [...entries.keys()],
    has: (name) => entries.has(name),
    watch(name) {
      if (entries.has(name)) return;
      entries.set(name, newEntry());
      void refresh(name);
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
      if (entry === undefined || entry.known.kind !== "unknown") return entry?.known ?? unknown;
      const failure = deps.failure() ?? entry.failure;
      if (failure !== undefined) throw failure;
      const waiter = Promise.withResolvers<WorkspaceObject>();
      entry.waiting.add(waiter);
      return await waiter.promise;
    },
    refresh,
    failureOf: (name) => entries.get(name)?.failure,
    failUnknown(failure) {
      for (const entry of entries.values())
        if (entry.known.kind === "unknown") fail(entry, failure);
    },
    end() {
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
    reading: undefined,
    failures: 0,
    absences: 0,
    waiting: new Set(),
  };
}

/** Rejects the callers that wait for the object. */
function fail(entry: Entry, failure: Error): void {
  for (const waiter of entry.waiting) waiter.reject(failure);
  entry.waiting.clear();
}

function isSame(a: WorkspaceObject, b: WorkspaceObject): boolean {
  if (a.kind === "present" && b.kind === "present")
    return a.sent.digest("whole") === b.sent.digest("whole");
  return a.kind === b.kind;
}
