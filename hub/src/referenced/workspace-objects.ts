/**
 * The referenced Secrets and ConfigMaps of all workspaces. Only namespaces with references are watched, and only referenced
 * objects are kept whole. Every replica has them, because every replica serves agents.
 */
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { createKindWatch, type KindWatch, type ProjectSecret } from "./kind-watch.ts";
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
  /** Returns the function that removes the listener. */
  onChange(listener: WorkspaceListener): () => void;
  /** Runs the watches until `signal` aborts. At most once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface WorkspaceObjectsDeps {
  readonly rest: KubeRest;
  readonly project?: ProjectSecret | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface Running {
  readonly watch: KindWatch;
  readonly ending: AbortController;
  ended: Promise<void>;
}

export function createWorkspaceObjects(deps: WorkspaceObjectsDeps): WorkspaceObjects {
  const counts = new Map<string, number>();
  const watches = new Map<string, Running>();
  const ending = new Set<Promise<void>>();
  const listeners = new Set<WorkspaceListener>();
  let until: AbortSignal | undefined;

  function open(namespace: string, kind: ObjectRef["kind"]): Running {
    const watch = createKindWatch({
      ...deps,
      kind,
      namespace,
      onChange: (name) => {
        for (const listener of listeners) listener(namespace, { kind, name });
      },
    });
    const running = { watch, ending: new AbortController(), ended: Promise.resolve() };
    if (until !== undefined) start(running, until);
    return running;
  }

  function start(running: Running, signal: AbortSignal): void {
    running.ended = running.watch.run(AbortSignal.any([signal, running.ending.signal]));
  }

  function watchOf(namespace: string, { kind }: ObjectRef): Running | undefined {
    return watches.get(watchKey(namespace, kind));
  }

  return {
    watch(namespace, ref) {
      const key = `${namespace}/${formatObjectRef(ref)}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      if (count > 0) return;
      const running = watchOf(namespace, ref) ?? open(namespace, ref.kind);
      watches.set(watchKey(namespace, ref.kind), running);
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
      watches.delete(watchKey(namespace, ref.kind));
      running.ending.abort();
      const ended = running.ended.finally(() => ending.delete(ended));
      ending.add(ended);
    },
    get: (namespace, ref) => watchOf(namespace, ref)?.watch.get(ref.name) ?? { kind: "unknown" },
    async known(namespace, ref) {
      return (await watchOf(namespace, ref)?.watch.known(ref.name)) ?? { kind: "unknown" };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async run(signal) {
      until = signal;
      for (const running of watches.values()) start(running, signal);
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await Promise.all([...ending, ...[...watches.values()].map(({ ended }) => ended)]);
    },
  };
}

function watchKey(namespace: string, kind: ObjectRef["kind"]): string {
  return `${namespace}/${kind}`;
}
