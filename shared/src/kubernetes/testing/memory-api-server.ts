/** The API server in memory as a `KubeRest`, without HTTP: for tests of controllers. `http-api-server.ts` serves it over HTTP. */

import { type KubeRest, KubeStatusError, type WatchEvent } from "../client/index.ts";
import type { DeleteOptions, ListOptions, WatchOptions } from "../client/rest.ts";
import { type KubeObject, keyOf, type ObjectRef, type Resource } from "../objects/index.ts";
import {
  createObjectStorage,
  type ObjectEvent,
  type ObjectPath,
  type ObjectStorage,
} from "./object-storage.ts";

export { conflict, serverError } from "./object-storage.ts";

export interface MemoryApiServer extends KubeRest {
  /** Every write that was requested, in order: `create secrets flotilla-system/a`. */
  readonly writes: readonly string[];
  /** Every read that was requested, in order: `secrets flotilla-system/a`, `list secrets flotilla-system`. */
  readonly reads: readonly string[];
  /** The responses of `raw`, by path. */
  readonly rawResponses: Map<string, string>;
  /** What is stored, without a request. */
  peek<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | undefined;
  /** All objects of a kind, without a request. */
  all<T extends KubeObject>(resource: Resource<T>): readonly T[];
  /** Stores an object without a request and without checks, as another client may have written it, status included. */
  put<T extends KubeObject>(resource: Resource<T>, object: T): T;
  /** Removes an object without a request, its finalizers ignored. */
  remove(resource: Resource<KubeObject>, ref: ObjectRef): void;
  /** The next writes fail, one with each of these. */
  failNext(...errors: readonly Error[]): void;
  /** Blocks writes from now on; returns the function that unblocks them. */
  hold(): () => void;
  /** Called before each write with its text in `writes`; an error that it throws fails the write. */
  beforeWrite: (write: string) => Promise<void> | void;
  /** Called before each `get` with its text in `reads`; an error that it throws fails the read. */
  beforeRead: (read: string) => Promise<void> | void;
  /** Compacts the history of changes: a watch from an older version gets 410 Gone. */
  compact(): void;
}

export function createMemoryApiServer(): MemoryApiServer {
  const storage = createObjectStorage();
  const writes: string[] = [];
  const reads: string[] = [];
  const failures: Error[] = [];
  let gate: Promise<void> = Promise.resolve();

  /** An object at a path has the type of its resource: it was stored with it. */

  async function write<R>(
    verb: string,
    resource: Resource<KubeObject>,
    ref: ObjectRef,
    run: (path: ObjectPath) => R,
  ): Promise<R> {
    const path = pathOf(resource, ref);
    const text = `${verb} ${textOf(path)}`;
    writes.push(text);
    await gate;
    await server.beforeWrite(text);
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return run(path);
  }

  const server: MemoryApiServer = {
    server: "https://memory.invalid",
    writes,
    reads,
    rawResponses: new Map(),
    beforeWrite: () => undefined,
    beforeRead: () => undefined,
    compact: storage.compact,
    all: <T extends KubeObject>({ group, plural }: Resource<T>) =>
      storage.list({ group, plural }, {}).map((object) => typed<T>(object)),
    peek<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef) {
      const found = storage.get(pathOf(resource, ref));
      return found === undefined ? undefined : typed<T>(found);
    },
    put: <T extends KubeObject>(resource: Resource<T>, object: T) =>
      typed<T>(storage.put(pathOf(resource, object.metadata), object)),
    remove: (resource, ref) => void storage.remove(pathOf(resource, ref)),
    failNext: (...errors) => void failures.push(...errors),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = Promise.resolve();
        resolve();
      };
    },

    async get(resource, ref) {
      const text = textOf(pathOf(resource, ref));
      reads.push(text);
      await server.beforeRead(text);
      return server.peek(resource, ref);
    },
    list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      const { group, plural } = resource;
      reads.push(`list ${plural} ${options.namespace ?? ""}`);
      const items = storage.list({ group, plural, namespace: options.namespace }, options);
      return Promise.resolve({
        items: items.map((item) => typed<T>(item)),
        resourceVersion: String(storage.version),
      });
    },
    watch: (resource, options) => watchEvents(storage, resource, options),
    create: <T extends KubeObject>(resource: Resource<T>, object: T) =>
      write("create", resource, object.metadata, (path) =>
        typed<T>(storage.create(path, withCreator(resource.plural, object))),
      ),
    replace: <T extends KubeObject>(
      resource: Resource<T>,
      object: T,
      { subresource }: { readonly subresource?: "status" } = {},
    ) =>
      write("replace", resource, object.metadata, (path) =>
        typed<T>(storage.replace(path, object, subresource ?? "main")),
      ),
    patch: (resource, ref, patch, { subresource } = {}) =>
      write("patch", resource, ref, (path) =>
        typed(storage.patch(path, patch, subresource ?? "main")),
      ),
    delete: (resource, ref, options: DeleteOptions = {}) =>
      write("delete", resource, ref, (path) => storage.delete(path, options) !== undefined),
    raw(path) {
      const response = server.rawResponses.get(path);
      return response === undefined
        ? Promise.reject(
            new KubeStatusError(`${path}: not found`, { status: 404, reason: "NotFound" }),
          )
        : Promise.resolve(response);
    },
    nextResponse: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
    close: () => Promise.resolve(),
  };
  return server;
}

async function* watchEvents<T extends KubeObject>(
  storage: ObjectStorage,
  { group, plural }: Resource<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, resourceVersion, signal } = options;
  const events: ObjectEvent[] = [];
  let wake: () => void = () => undefined;
  const collection = { group, plural, namespace };
  const unsubscribe = storage.subscribe(collection, options, Number(resourceVersion), (event) => {
    events.push(event);
    wake();
  });
  const onAbort = (): void => wake();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    while (signal?.aborted !== true) {
      const event = events.shift();
      if (event !== undefined) yield { type: event.type, object: typed<T>(event.object) };
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** What was put in as a kind comes out as that kind. */
function typed<T extends KubeObject>(object: KubeObject): T {
  return object as T;
}

function pathOf({ group, plural }: Resource<KubeObject>, ref: ObjectRef): ObjectPath {
  return { group, plural, namespace: ref.namespace, name: ref.name };
}

function textOf({ plural, namespace, name }: ObjectPath): string {
  return `${plural} ${keyOf(namespace === undefined ? { name } : { namespace, name })}`;
}

/** As the API server records who creates a namespace: the client of this server is the hub or an agent. */
function withCreator<T extends KubeObject>(plural: string, object: T): T {
  if (plural !== "namespaces") return object;
  const fieldsV1 = { "f:metadata": { "f:labels": { "f:kubernetes.io/metadata.name": {} } } };
  const managedFields = [{ manager: "flotilla-hub", operation: "Update", fieldsV1 }];
  return { ...object, metadata: { ...object.metadata, managedFields } };
}
