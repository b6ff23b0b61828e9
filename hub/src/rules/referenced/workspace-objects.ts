/**
 * The referenced Secrets and ConfigMaps of all workspaces. Only namespaces with references are watched, and only referenced
 * objects are kept whole. Of other namespaces, where HelmReleases may be, objects are read by their names. Every replica has
 * them, because every replica serves agents.
 */
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import type { KindWatch } from "./kind-watch.ts";
import { NamespaceWatches, type NamespaceWatchesDeps } from "./namespace-watches.ts";
import type { WorkspaceObject } from "./workspace-object.ts";

export type WorkspaceListener = (namespace: string, ref: ObjectRef) => void;

export class WorkspaceObjects {
  readonly #deps: NamespaceWatchesDeps;
  readonly #watches: NamespaceWatches;
  /** How often an object is watched. */
  readonly #counts = new Map<string, number>();
  readonly #listeners = new Set<WorkspaceListener>();

  constructor(deps: NamespaceWatchesDeps) {
    this.#deps = deps;
    this.#watches = new NamespaceWatches(deps, (namespace, ref) => {
      for (const listener of this.#listeners) listener(namespace, ref);
    });
  }

  /** Watches an object, until `unwatch` was called as often as `watch`. */
  watch(namespace: string, ref: ObjectRef): void {
    const key = countKey(namespace, ref);
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    if (count > 0) return;
    const { watch } =
      this.#watches.get(namespace, ref.kind) ?? this.#watches.open(namespace, ref.kind);
    watch.watch(ref.name);
  }

  /** The last one of a namespace and kind ends their watch, and their objects are dropped. */
  unwatch(namespace: string, ref: ObjectRef): void {
    const key = countKey(namespace, ref);
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) {
      this.#counts.set(key, count - 1);
      return;
    }
    this.#counts.delete(key);
    const watch = this.#watchOf(namespace, ref);
    watch?.unwatch(ref.name);
    if (watch?.size === 0) this.#watches.close(namespace, ref.kind);
  }

  /** The observed state of an object; unknown while it is not watched. */
  get(namespace: string, ref: ObjectRef): WorkspaceObject {
    return this.#watchOf(namespace, ref)?.get(ref.name) ?? { kind: "unknown" };
  }

  /** The same once the object was read. Throws when it cannot be read. */
  known(namespace: string, ref: ObjectRef): Promise<WorkspaceObject> {
    return this.#read(namespace, ref, "known");
  }

  /**
   * The state of a watched object that is not older than this call; one read answers all callers of the same time. An object of
   * a workspace is up to date without. Throws when it cannot be read.
   */
  refresh(namespace: string, ref: ObjectRef): Promise<WorkspaceObject> {
    return this.#read(namespace, ref, "refreshed");
  }

  /** From now on the objects of a namespace are watched if it is a workspace; until its first list they are unknown. */
  workspaceChanged(namespace: string): void {
    if (this.#deps.isWorkspace?.(namespace) !== true) return;
    for (const kind of ["Secret", "ConfigMap"] as const) {
      const before = this.#watches.get(namespace, kind);
      if (before?.isByName !== true) continue;
      const names = before.watch.names();
      this.#watches.close(namespace, kind);
      const { watch } = this.#watches.open(namespace, kind);
      for (const name of names) watch.watch(name);
    }
  }

  /** Returns the function that removes the listener. */
  onChange(listener: WorkspaceListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Runs the watches until `signal` aborts. At most once. */
  run(signal: AbortSignal): Promise<void> {
    return this.#watches.run(signal);
  }

  #watchOf(namespace: string, { kind }: ObjectRef): KindWatch | undefined {
    return this.#watches.get(namespace, kind)?.watch;
  }

  async #read(
    namespace: string,
    ref: ObjectRef,
    how: "known" | "refreshed",
  ): Promise<WorkspaceObject> {
    const watch = this.#watchOf(namespace, ref);
    if (watch === undefined) return { kind: "unknown" };
    try {
      return await watch[how](ref.name);
    } catch (thrown) {
      // Meanwhile the namespace has become a workspace.
      if ([undefined, watch].includes(this.#watchOf(namespace, ref))) throw thrown;
      return await this.#read(namespace, ref, "known");
    }
  }
}

function countKey(namespace: string, ref: ObjectRef): string {
  return `${namespace}/${formatObjectRef(ref)}`;
}
