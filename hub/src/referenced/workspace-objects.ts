/**
 * The referenced Secrets and ConfigMaps of all workspaces. Only namespaces with references are watched, and only referenced
 * objects are kept whole. Of other namespaces, where HelmReleases may be, objects are read by their names. Every replica has
 * them, because every replica serves agents.
 */
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { createKindWatch, type KindWatch } from "./kind-watch.ts";
import { watchLabelledObjects } from "./labelled-objects.ts";
import { createNamedObjects } from "./named-objects.ts";
import type { ProjectSecret } from "./object-entries.ts";
import type { WorkspaceObject } from "./workspace-object.ts";

export type WorkspaceListener = (namespace: string, ref: ObjectRef) => void;

export interface WorkspaceObjects {
  /** Watches an object, until `unwatch` was called as often as `watch`. */
  watch(namespace: string, ref: ObjectRef): void;
  unwatch(namespace: string, ref: ObjectRef): void;
  /** The observed state of a watched object. */
  get(namespace: string, ref: ObjectRef): WorkspaceObject;
  /** The same once the object was read. Throws when it cannot be read. */
  known(namespace: string, ref: ObjectRef): Promise<WorkspaceObject>;
  /**
   * The state of a watched object that is not older than this call; one read answers all callers of the same time. An object of
   * a workspace is up to date without. Throws when it cannot be read.
   */
  refresh(namespace: string, ref: ObjectRef): Promise<WorkspaceObject>;
  /** From now on the objects of a namespace are watched if it is a workspace. */
  workspaceChanged(namespace: string): void;
  /** Returns the function that removes the listener. */
  onChange(listener: WorkspaceListener): () => void;
  /** Runs the watches until `signal` aborts. At most once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface WorkspaceObjectsDeps {
  readonly rest: KubeRest;
  /**
   * Whether a namespace has Clusters, HelmOps or Receivers. In others an object is read by its name; absent: all are workspaces. Once its
   * objects are watched, a namespace stays watched while they are referenced.
   */
  readonly isWorkspace?: (namespace: string) => boolean;
  readonly project?: ProjectSecret | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface Running {
  readonly watch: KindWatch;
  readonly isByName: boolean;
  readonly ending: AbortController;
  ended: Promise<void>;
}

export function createWorkspaceObjects(deps: WorkspaceObjectsDeps): WorkspaceObjects {
  const counts = new Map<string, number>();
  const watches = new Map<string, Running>();
  const ending = new Set<Promise<void>>();
  const listeners = new Set<WorkspaceListener>();
  let until: AbortSignal | undefined;
  const labelled = new Map<ObjectRef["kind"], Promise<void>>();

  function open(namespace: string, kind: ObjectRef["kind"]): Running {
    const isByName = deps.isWorkspace?.(namespace) === false;
    const create = isByName ? createNamedObjects : createKindWatch;
    const watch = create({
      ...deps,
      kind,
      namespace,
      onChange: (name) => {
        for (const listener of listeners) listener(namespace, { kind, name });
      },
    });
    const running = { watch, isByName, ending: new AbortController(), ended: Promise.resolve() };
    watches.set(watchKey(namespace, kind), running);
    if (until !== undefined) start(running, kind, until);
    return running;
  }

  function start(running: Running, kind: ObjectRef["kind"], signal: AbortSignal): void {
    if (running.isByName && !labelled.has(kind)) labelled.set(kind, watchLabelled(kind, signal));
    running.ended = running.watch.run(AbortSignal.any([signal, running.ending.signal]));
  }

  /** One watch for all namespaces whose objects are read by name. */
  function watchLabelled(kind: ObjectRef["kind"], signal: AbortSignal): Promise<void> {
    const onChange = (namespace: string, name: string): void =>
      watches.get(watchKey(namespace, kind))?.watch.changed(name);
    return watchLabelledObjects({ ...deps, kind, onChange }, signal);
  }

  function close(key: string, running: Running): void {
    watches.delete(key);
    running.ending.abort();
    const ended = running.ended.finally(() => ending.delete(ended));
    ending.add(ended);
  }

  function watchOf(namespace: string, { kind }: ObjectRef): Running | undefined {
    return watches.get(watchKey(namespace, kind));
  }

  async function read(
    namespace: string,
    ref: ObjectRef,
    how: "known" | "refreshed",
  ): Promise<WorkspaceObject> {
    const running = watchOf(namespace, ref);
    if (running === undefined) return { kind: "unknown" };
    try {
      return await running.watch[how](ref.name);
    } catch (thrown) {
      // Meanwhile the namespace has become a workspace.
      if ([undefined, running].includes(watchOf(namespace, ref))) throw thrown;
      return await read(namespace, ref, "known");
    }
  }

  return {
    watch(namespace, ref) {
      const key = `${namespace}/${formatObjectRef(ref)}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      if (count > 0) return;
      const running = watchOf(namespace, ref) ?? open(namespace, ref.kind);
      running.watch.watch(ref.name);
    },
    unwatch(namespace, ref) {
      const key = `${namespace}/${formatObjectRef(ref)}`;
      const count = counts.get(key) ?? 0;
      if (count > 1) {
        counts.set(key, count - 1);
        return;
      }
      counts.delete(key);
      const running = watchOf(namespace, ref);
      running?.watch.unwatch(ref.name);
      if (running === undefined || running.watch.size > 0) return;
      close(watchKey(namespace, ref.kind), running);
    },
    get: (namespace, ref) => watchOf(namespace, ref)?.watch.get(ref.name) ?? { kind: "unknown" },
    known: (namespace, ref) => read(namespace, ref, "known"),
    refresh: (namespace, ref) => read(namespace, ref, "refreshed"),
    workspaceChanged(namespace) {
      if (deps.isWorkspace?.(namespace) !== true) return;
      for (const kind of ["Secret", "ConfigMap"] as const) {
        const key = watchKey(namespace, kind);
        const before = watches.get(key);
        if (before?.isByName !== true) continue;
        const names = before.watch.names();
        close(key, before);
        const { watch } = open(namespace, kind);
        for (const name of names) watch.watch(name);
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async run(signal) {
      until = signal;
      for (const [key, running] of watches) start(running, kindOf(key), signal);
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await Promise.all([
        ...ending,
        ...labelled.values(),
        ...[...watches.values()].map(({ ended }) => ended),
      ]);
    },
  };
}

function watchKey(namespace: string, kind: ObjectRef["kind"]): string {
  return `${namespace}/${kind}`;
}

function kindOf(key: string): ObjectRef["kind"] {
  return key.endsWith("/Secret") ? "Secret" : "ConfigMap";
}
