/** An API server in memory: objects with resource versions, lists and watches, as far as the agent asks for them. */
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects/object.ts";
import type {
  DeleteOptions,
  KubeRest,
  ListOptions,
  WatchEvent,
  WatchOptions,
} from "@flotilla/shared/kube/client/rest.ts";
import { KubeStatusError } from "@flotilla/shared/kube/client/status-error.ts";

export interface MemoryApiServer extends KubeRest {
  /** `create NAME` and so on, of every write that was asked for. */
  readonly writes: readonly string[];
  /** Puts an object there as somebody else would; gives it as it is stored. */
  put<T extends KubeObject>(resource: Resource<T>, object: T): T;
  /** What `raw` answers, by path. */
  readonly answers: Map<string, string>;
  /** Called before each write; what it throws is what came of the write. */
  beforeWrite: (write: string) => Promise<void> | void;
  /** Called before each `get`; what it throws is what came of it. */
  beforeRead: () => Promise<void> | void;
}

interface Told {
  readonly plural: string;
  readonly version: number;
  readonly event: WatchEvent<KubeObject>;
}

export function createMemoryApiServer(): MemoryApiServer {
  const kinds = new Map<string, Map<string, KubeObject>>();
  const history: Told[] = [];
  const watchers = new Set<() => void>();
  const writes: string[] = [];
  const answers = new Map<string, string>();
  let version = 0;

  function objectsOf(resource: Resource<KubeObject>): Map<string, KubeObject> {
    const objects = kinds.get(resource.plural) ?? new Map<string, KubeObject>();
    kinds.set(resource.plural, objects);
    return objects;
  }

  function tell(resource: Resource<KubeObject>, event: WatchEvent<KubeObject>): void {
    history.push({ plural: resource.plural, version, event });
    for (const wake of watchers) wake();
  }

  function put<T extends KubeObject>(resource: Resource<T>, object: T): T {
    const objects = objectsOf(resource);
    const before = objects.get(keyOf(object));
    version += 1;
    const stored: T = {
      ...object,
      metadata: {
        uid: before?.metadata.uid ?? `uid-${version}`,
        ...object.metadata,
        resourceVersion: String(version),
      },
    };
    objects.set(keyOf(object), stored);
    tell(resource, { type: before === undefined ? "ADDED" : "MODIFIED", object: stored });
    return stored;
  }

  async function writing(write: string): Promise<void> {
    writes.push(write);
    await rest.beforeWrite(write);
  }

  const rest: MemoryApiServer = {
    server: "memory",
    writes,
    answers,
    beforeWrite: () => undefined,
    beforeRead: () => undefined,
    put,
    async get<T extends KubeObject>(resource: Resource<T>, ref: Parameters<typeof keyOf>[0]) {
      await rest.beforeRead();
      // What was put under this kind.
      return objectsOf(resource).get(keyOf(ref)) as T | undefined;
    },
    list<T extends KubeObject>(resource: Resource<T>, { labelSelector }: ListOptions = {}) {
      const [label = "", value] = labelSelector?.split("=") ?? [];
      const items = [...objectsOf(resource).values()].filter(
        ({ metadata }) => label === "" || metadata.labels?.[label] === value,
      ) as T[]; // What was put under this kind.
      return Promise.resolve({ items, resourceVersion: String(version) });
    },
    async *watch<T extends KubeObject>(
      resource: Resource<T>,
      { signal, resourceVersion }: WatchOptions,
    ): AsyncGenerator<WatchEvent<T>> {
      let wake: () => void = () => undefined;
      const watcher = (): void => wake();
      watchers.add(watcher);
      signal?.addEventListener("abort", watcher, { once: true });
      try {
        for (let at = 0; signal?.aborted !== true; ) {
          const told = history[at];
          if (told === undefined) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            continue;
          }
          at += 1;
          const isWanted =
            told.plural === resource.plural && told.version > Number(resourceVersion);
          if (isWanted) yield told.event as WatchEvent<T>; // What was put under this kind.
        }
      } finally {
        watchers.delete(watcher);
      }
    },
    async create(resource, object) {
      await writing(`create ${object.metadata.name}`);
      if (objectsOf(resource).has(keyOf(object))) throw status(409, "AlreadyExists");
      return put(resource, object);
    },
    async replace(resource, object) {
      await writing(`replace ${object.metadata.name}`);
      const current = objectsOf(resource).get(keyOf(object));
      if (current === undefined) throw status(404, "NotFound");
      if (current.metadata.resourceVersion !== object.metadata.resourceVersion)
        throw status(409, "Conflict");
      return put(resource, object);
    },
    patch: () => Promise.reject(status(405, "MethodNotAllowed")),
    async delete(resource, ref, { uid }: DeleteOptions = {}) {
      await writing(`delete ${ref.name}`);
      const object = objectsOf(resource).get(keyOf(ref));
      if (object === undefined) return false;
      if (uid !== undefined && uid !== object.metadata.uid) throw status(409, "Conflict");
      objectsOf(resource).delete(keyOf(ref));
      version += 1;
      const gone = { ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } };
      tell(resource, { type: "DELETED", object: gone });
      return true;
    },
    raw(path) {
      const answer = answers.get(path);
      return answer === undefined
        ? Promise.reject(status(404, "NotFound"))
        : Promise.resolve(answer);
    },
    nextResponse: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
    close: () => Promise.resolve(),
  };
  return rest;
}

function status(code: number, reason: string): KubeStatusError {
  return new KubeStatusError(`memory: ${reason}`, { status: code, reason });
}
