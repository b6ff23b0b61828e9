/**
 * The objects of an API server in memory, with the rules of a real one that our code depends on: resourceVersion and
 * conflicts, uid, generation, finalizers, the status subresource, selectors, and watches with history. Unlike a real
 * one it writes a new version also when nothing changes, and it does not validate.
 */
import { isDeepStrictEqual } from "node:util";
import { KubeStatusError } from "../client/index.ts";
import type { PatchBody } from "../client/rest.ts";
import { type KubeObject, keyOf, type ObjectMeta } from "../objects/index.ts";
import { matchesSelection, type ObjectSelection } from "./selectors.ts";

/** All objects of a kind, or those in one namespace. */
export interface CollectionPath {
  readonly group: string;
  readonly plural: string;
  readonly namespace?: string | undefined;
}

export interface ObjectPath extends CollectionPath {
  readonly name: string;
}

export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface ObjectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

/** What a write changes: everything but the status, or the status alone. */
export type WritePart = "main" | "status";

/** Writes throw the KubeStatusError that a real API server responds with. */
export interface ObjectStorage {
  /** The version of the last write. */
  readonly version: number;
  get(path: ObjectPath): KubeObject | undefined;
  list(path: CollectionPath, selection: ObjectSelection): readonly KubeObject[];
  /** Writes an object without any check, status and deletionTimestamp included. Another uid makes it another object. */
  put(path: ObjectPath, object: KubeObject): KubeObject;
  /** Removes an object, its finalizers ignored. */
  remove(path: ObjectPath): KubeObject | undefined;
  create(path: ObjectPath, object: KubeObject): KubeObject;
  replace(path: ObjectPath, object: KubeObject, part: WritePart): KubeObject;
  patch(path: ObjectPath, patch: PatchBody, part: WritePart): KubeObject;
  /** Returns the last state of the object; `undefined` when there was none. */
  delete(path: ObjectPath, preconditions: Preconditions): KubeObject | undefined;
  /** Calls `listener` with all events after `version`, past and future; returns the function that ends it. */
  subscribe(
    path: CollectionPath,
    selection: ObjectSelection,
    version: number,
    listener: (event: ObjectEvent) => void,
  ): () => void;
  /** Compacts all events so far: a watch from an older version gets 410 Gone. */
  compact(): void;
}

interface LoggedEvent {
  readonly version: number;
  readonly path: ObjectPath;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** The deletion time of objects: no test depends on it. */
const deletedAt = "2026-01-01T00:00:00Z";

export function createObjectStorage(startVersion = 0): ObjectStorage {
  const objects = new Map<string, { readonly path: ObjectPath; readonly object: KubeObject }>();
  const subscribers = new Set<(event: LoggedEvent) => void>();
  let log: LoggedEvent[] = [];
  let version = startVersion;
  let oldestVersion = 0;

  const find = (path: ObjectPath): KubeObject | undefined => objects.get(idOf(path))?.object;

  function existing(path: ObjectPath): KubeObject {
    const object = find(path);
    if (object === undefined) throw notFound(path);
    return object;
  }

  function publish(path: ObjectPath, before?: KubeObject, after?: KubeObject): void {
    const event = { version, path, before, after };
    log.push(event);
    for (const subscriber of subscribers) subscriber(event);
  }

  /** Stores an object, or removes it when it is being deleted and has no finalizers. */
  function store(path: ObjectPath, object: KubeObject): KubeObject {
    const before = find(path);
    version += 1;
    const metadata: ObjectMeta = {
      ...object.metadata,
      uid: before?.metadata.uid ?? object.metadata.uid ?? `uid-${version}`,
      resourceVersion: String(version),
      ...("spec" in object && { generation: generationOf(before, object) }),
    };
    const stored: KubeObject = structuredClone({ ...object, metadata });
    if (metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0) {
      objects.delete(idOf(path));
      if (before !== undefined) publish(path, before);
    } else {
      objects.set(idOf(path), { path, object: stored });
      publish(path, before, stored);
    }
    return stored;
  }

  function remove(path: ObjectPath): KubeObject | undefined {
    const before = find(path);
    if (before === undefined) return undefined;
    version += 1;
    objects.delete(idOf(path));
    publish(path, before);
    return before;
  }

  function update(path: ObjectPath, next: KubeObject, part: WritePart): KubeObject {
    const current = existing(path);
    checkPreconditions(current, next.metadata);
    const isStatus = part === "status";
    const { deletionTimestamp } = current.metadata;
    const added = (next.metadata.finalizers ?? []).filter(
      (finalizer) => current.metadata.finalizers?.includes(finalizer) !== true,
    );
    if (!isStatus && deletionTimestamp !== undefined && added.length > 0)
      throw statusError(path, 422, "Invalid", "no new finalizers while it is being deleted");
    const written = isStatus ? current : next;
    const status: unknown = Reflect.get(isStatus ? next : current, "status");
    return store(path, {
      ...withoutStatus(written),
      ...(status !== undefined && { status }),
      metadata: {
        ...written.metadata,
        ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      },
    });
  }

  return {
    get version() {
      return version;
    },
    get: find,
    list: (path, selection) =>
      [...objects.values()]
        .filter((stored) => isIn(stored.path, path) && matchesSelection(stored.object, selection))
        .map(({ object }) => object),
    put(path, object) {
      const { uid } = object.metadata;
      if (uid !== undefined && find(path)?.metadata.uid !== uid) remove(path);
      return store(path, object);
    },
    remove,
    create(path, object) {
      if (find(path) !== undefined)
        throw statusError(path, 409, "AlreadyExists", "it already exists");
      return store(path, withoutStatus(object));
    },
    replace: update,
    patch: (path, patch, part) => update(path, patched(existing(path), patch), part),
    delete(path, preconditions) {
      const current = find(path);
      if (current === undefined) return undefined;
      checkPreconditions(current, preconditions);
      if ((current.metadata.finalizers ?? []).length === 0) return remove(path);
      const deletionTimestamp = current.metadata.deletionTimestamp ?? deletedAt;
      return store(path, { ...current, metadata: { ...current.metadata, deletionTimestamp } });
    },
    subscribe(path, selection, from, listener) {
      if (from < oldestVersion)
        throw statusError({ ...path, name: "" }, 410, "Expired", "too old resource version");
      const deliver = (event: LoggedEvent): void => {
        const seen = isIn(event.path, path) ? eventFor(event, selection) : undefined;
        if (seen !== undefined) listener(seen);
      };
      for (const event of log) if (event.version > from) deliver(event);
      subscribers.add(deliver);
      return () => void subscribers.delete(deliver);
    },
    compact() {
      log = [];
      oldestVersion = version;
    },
  };
}

/** What a watch with this selection delivers: an object that starts or ceases to match is added or deleted. */
function eventFor(
  { before, after, version }: LoggedEvent,
  selection: ObjectSelection,
): ObjectEvent | undefined {
  const was = before !== undefined && matchesSelection(before, selection);
  if (after !== undefined && matchesSelection(after, selection))
    return { type: was ? "MODIFIED" : "ADDED", object: after };
  if (!was) return undefined;
  const metadata = { ...before.metadata, resourceVersion: String(version) };
  return { type: "DELETED", object: { ...before, metadata } };
}

function idOf({ group, plural, namespace, name }: ObjectPath): string {
  return `${plural}.${group} ${namespace ?? ""}/${name}`;
}

function isIn(path: ObjectPath, { group, plural, namespace }: CollectionPath): boolean {
  return (
    path.plural === plural &&
    path.group === group &&
    (namespace === undefined || path.namespace === namespace)
  );
}

function generationOf(before: KubeObject | undefined, after: KubeObject): number {
  const specOf = (object: KubeObject): unknown => ({
    ...withoutStatus(object),
    metadata: undefined,
  });
  const generation = before?.metadata.generation ?? 0;
  const hasSameSpec = before !== undefined && isDeepStrictEqual(specOf(before), specOf(after));
  return hasSameSpec ? generation : generation + 1;
}

function withoutStatus(object: KubeObject): KubeObject {
  const { status: _, ...others }: KubeObject & { readonly status?: unknown } = object;
  return others;
}

/** A given uid or version has to be that of the object. */
function checkPreconditions(current: KubeObject, { uid, resourceVersion }: Preconditions): void {
  const { metadata } = current;
  if (
    (uid ?? metadata.uid) !== metadata.uid ||
    (resourceVersion ?? metadata.resourceVersion) !== metadata.resourceVersion
  )
    throw conflict(keyOf(current));
}

function patched(current: KubeObject, patch: PatchBody): KubeObject {
  if (patch.type === "json" && patch.body.length > 0)
    throw new Error("the API server in memory takes no JSON patches");
  return patch.type === "json" ? current : mergePatch(current, patch.body);
}

/** RFC 7386. The author of a merge patch is responsible for the type of its result. */
function mergePatch<T>(target: T, patch: unknown): T {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch as T;
  const result = new Map<string, unknown>(Object.entries(target ?? {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else if (value !== undefined) result.set(name, mergePatch(result.get(name), value));
  }
  return Object.fromEntries(result) as T;
}

/** The error when an object has changed since it was read. */
export function conflict(what = "it"): KubeStatusError {
  return new KubeStatusError(`write ${what}: the object has been modified`, {
    status: 409,
    reason: "Conflict",
  });
}

export function serverError(): KubeStatusError {
  return new KubeStatusError("write it: internal error", { status: 500, reason: "InternalError" });
}

function notFound(path: ObjectPath): KubeStatusError {
  return statusError(path, 404, "NotFound", "not found");
}

function statusError(
  { plural, namespace, name }: ObjectPath,
  status: number,
  reason: string,
  message: string,
): KubeStatusError {
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  return new KubeStatusError(`${plural} ${keyOf(ref)}: ${status} ${reason}: ${message}`, {
    status,
    reason,
  });
}
