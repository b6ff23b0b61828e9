/**
 * An API server in memory for tests of what decides over a few objects: versions, conflicts, finalizers and the status
 * subresource. What a real one does beyond that is tested against a real one.
 */

import { isDeepStrictEqual } from "node:util";
import {
  type KubeObject,
  keyOf,
  type ObjectMeta,
  type ObjectRef,
  type Resource,
} from "@flotilla/shared/kube/object.ts";
import type {
  DeleteOptions,
  KubeRest,
  ListOptions,
  PatchBody,
} from "@flotilla/shared/kube/rest.ts";
import { KubeStatusError } from "@flotilla/shared/kube/status-error.ts";

export interface MemoryKube extends KubeRest {
  /** Every write that was asked for, in order: `create secrets flotilla-system/a`. */
  readonly writes: readonly string[];
  /** Every object that was asked for, in order: `secrets flotilla-system/a`. */
  readonly reads: readonly string[];
  /** All objects of a kind, without a request. */
  all<T extends KubeObject>(resource: Resource<T>): readonly T[];
  /** What is there, without a request. */
  peek<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | undefined;
  /** Writes an object as somebody else would, status included. */
  put<T extends KubeObject>(resource: Resource<T>, object: T): T;
  /** The next writes fail, one with each of these. */
  failNext(...errors: readonly Error[]): void;
  /** Writes wait from now on; the result lets them through again. */
  hold(): () => void;
}

export function createMemoryKube(): MemoryKube {
  const objects = new Map<string, KubeObject>();
  const writes: string[] = [];
  const reads: string[] = [];
  const failures: Error[] = [];
  let gate: Promise<void> = Promise.resolve();
  let lastVersion = 0;

  function pathOf(resource: Resource<KubeObject>, ref: ObjectRef): string {
    return `${resource.plural} ${keyOf({ ...(ref.namespace !== undefined && { namespace: ref.namespace }), name: ref.name })}`;
  }

  function find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | undefined {
    // A path holds objects of its resource alone.
    return objects.get(pathOf(resource, ref)) as T | undefined;
  }

  function keep<T extends KubeObject>(resource: Resource<T>, object: T): T {
    const before = find(resource, object.metadata);
    lastVersion += 1;
    const hasSameSpec = before !== undefined && isDeepStrictEqual(specOf(before), specOf(object));
    const generation = before?.metadata.generation ?? 0;
    const metadata: ObjectMeta = {
      ...object.metadata,
      uid: before?.metadata.uid ?? object.metadata.uid ?? `uid-${lastVersion}`,
      generation: hasSameSpec ? generation : generation + 1,
      resourceVersion: String(lastVersion),
    };
    const kept = structuredClone({ ...object, metadata });
    const isGone =
      metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (isGone) objects.delete(pathOf(resource, metadata));
    else objects.set(pathOf(resource, metadata), kept);
    return kept;
  }

  async function write<R>(
    verb: string,
    resource: Resource<KubeObject>,
    ref: ObjectRef,
    run: () => R,
  ): Promise<R> {
    writes.push(`${verb} ${pathOf(resource, ref)}`);
    await gate;
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return run();
  }

  function existing<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T {
    const object = find(resource, ref);
    if (object === undefined) throw notFound(pathOf(resource, ref));
    return object;
  }

  return {
    server: "https://memory.invalid",
    writes,
    reads,
    peek: find,
    all: <T extends KubeObject>(resource: Resource<T>) =>
      [...objects]
        .filter(([path]) => path.startsWith(`${resource.plural} `))
        // A path holds objects of its resource alone.
        .map(([, object]) => object as T),
    put: keep,
    failNext: (...errors) => void failures.push(...errors),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = Promise.resolve();
        resolve();
      };
    },
    get(resource, ref) {
      reads.push(pathOf(resource, ref));
      return Promise.resolve(find(resource, ref));
    },
    create: (resource, object) =>
      write("create", resource, object.metadata, () => {
        if (find(resource, object.metadata) !== undefined)
          throw alreadyExists(pathOf(resource, object.metadata));
        return keep(resource, object);
      }),
    replace: (resource, object, options = {}) =>
      write("replace", resource, object.metadata, () => {
        const current = existing(resource, object.metadata);
        refuseOther(current, object.metadata);
        const isStatus = options.subresource === "status";
        const status: unknown = Reflect.get(isStatus ? object : current, "status");
        return keep(resource, { ...(isStatus ? current : object), status });
      }),
    patch: (resource, ref, patch, _options) =>
      write("patch", resource, ref, () => {
        const current = existing(resource, ref);
        const next = merged(current, bodyOf(patch));
        refuseOther(current, next.metadata);
        return keep(resource, next);
      }),
    delete: (resource, ref, options: DeleteOptions = {}) =>
      write("delete", resource, ref, () => {
        const current = find(resource, ref);
        if (current === undefined) return false;
        refuseOther(current, options);
        if ((current.metadata.finalizers ?? []).length === 0) objects.delete(pathOf(resource, ref));
        else {
          const deletionTimestamp = "2026-01-01T00:00:00Z";
          keep(resource, { ...current, metadata: { ...current.metadata, deletionTimestamp } });
        }
        return true;
      }),
    list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      const { namespace, labelSelector } = options;
      const wanted = labelsOf(labelSelector);
      reads.push(`list ${resource.plural} ${namespace ?? ""}`);
      const items = [...objects]
        .filter(([path]) => path.startsWith(`${resource.plural} `))
        // A path holds objects of its resource alone.
        .map(([, object]) => object as T)
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
        .filter(({ metadata }) =>
          wanted.every(([label, value]) => metadata.labels?.[label] === value),
        );
      return Promise.resolve({ items, resourceVersion: String(lastVersion) });
    },
    watch: () => {
      throw unsupported("watch");
    },
    raw: () => Promise.reject(unsupported("raw")),
    nextAnswer: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
    close: () => Promise.resolve(),
  };
}

/** As the server answers when an object has changed since it was read. */
export function conflict(what = "it"): KubeStatusError {
  return new KubeStatusError(`write ${what}: the object has been modified`, {
    status: 409,
    reason: "Conflict",
  });
}

export function serverError(): KubeStatusError {
  return new KubeStatusError("write it: internal error", { status: 500, reason: "InternalError" });
}

function notFound(path: string): KubeStatusError {
  return new KubeStatusError(`${path} not found`, { status: 404, reason: "NotFound" });
}

function alreadyExists(path: string): KubeStatusError {
  return new KubeStatusError(`${path} already exists`, { status: 409, reason: "AlreadyExists" });
}

function unsupported(what: string): Error {
  return new Error(`${what}: the server in memory does not do that`);
}

/** Of a selector that names values: `a=b,c=d`. */
function labelsOf(selector = ""): readonly (readonly [label: string, value: string])[] {
  return selector.split(",").flatMap((part) => {
    const [label, value] = part.split("=");
    return label === undefined || value === undefined ? [] : [[label, value] as const];
  });
}

/** Version and UID are preconditions wherever they are given. */
function refuseOther(
  current: KubeObject,
  wanted: { readonly uid?: string; readonly resourceVersion?: string },
): void {
  const { uid, resourceVersion } = current.metadata;
  if (
    (wanted.uid ?? uid) !== uid ||
    (wanted.resourceVersion ?? resourceVersion) !== resourceVersion
  )
    throw conflict(current.metadata.name);
}

/** All but metadata and status. */
function specOf(object: KubeObject): unknown {
  return { ...object, metadata: undefined, status: undefined };
}

function bodyOf(patch: PatchBody): unknown {
  if (patch.type !== "merge") throw unsupported(`a ${patch.type} patch`);
  return patch.body;
}

/** RFC 7386. What a merge patch makes of an object is for its author to know. */
function merged<T>(target: T, patch: unknown): T {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch as T;
  const result = new Map<string, unknown>(Object.entries(target ?? {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else if (value !== undefined) result.set(name, merged(result.get(name), value));
  }
  return Object.fromEntries(result) as T;
}
