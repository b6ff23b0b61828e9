/**
 * The watches of referenced objects, one for each namespace and kind that has some. In a workspace it watches the namespace; of other
 * namespaces it reads objects by their names, and one watch for all of them delivers those with the label of Flux.
 */
import type { ObjectRef, ObjectRefKind } from "@flotilla/proto";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { createKindWatch, type KindWatch } from "./kind-watch.ts";
import { watchLabelledObjects } from "./labelled-objects.ts";
import { createNamedObjects } from "./named-objects.ts";
import type { ProjectSecret } from "./object-entries.ts";

export interface NamespaceWatchesDeps {
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

export interface NamespaceWatch {
  readonly watch: KindWatch;
  /** It is not of a workspace. */
  readonly isByName: boolean;
}

interface Running extends NamespaceWatch {
  readonly kind: ObjectRefKind;
  readonly ending: AbortController;
  ended: Promise<void>;
}

export class NamespaceWatches {
  readonly #deps: NamespaceWatchesDeps;
  readonly #onChange: (namespace: string, ref: ObjectRef) => void;
  readonly #open = new Map<string, Running>();
  /** Those that are closed and still end. */
  readonly #ending = new Set<Promise<void>>();
  readonly #labelled = new Map<ObjectRefKind, Promise<void>>();
  #until: AbortSignal | undefined;

  /** `onChange` is called with an object whose observed state has changed. */
  constructor(deps: NamespaceWatchesDeps, onChange: (namespace: string, ref: ObjectRef) => void) {
    this.#deps = deps;
    this.#onChange = onChange;
  }

  get(namespace: string, kind: ObjectRefKind): NamespaceWatch | undefined {
    return this.#open.get(watchKey(namespace, kind));
  }

  /** Opens the watch of a namespace that has none of this kind, as it is now: a workspace or not. It runs as soon as `run` does. */
  open(namespace: string, kind: ObjectRefKind): NamespaceWatch {
    const isByName = this.#deps.isWorkspace?.(namespace) === false;
    const create = isByName ? createNamedObjects : createKindWatch;
    const watch = create({
      ...this.#deps,
      kind,
      namespace,
      onChange: (name) => this.#onChange(namespace, { kind, name }),
    });
    const running: Running = {
      watch,
      isByName,
      kind,
      ending: new AbortController(),
      ended: Promise.resolve(),
    };
    this.#open.set(watchKey(namespace, kind), running);
    if (this.#until !== undefined) this.#start(running, this.#until);
    return running;
  }

  /** Ends a watch; what waits for its objects gets an error. Nothing happens where there is none. */
  close(namespace: string, kind: ObjectRefKind): void {
    const key = watchKey(namespace, kind);
    const running = this.#open.get(key);
    if (running === undefined) return;
    this.#open.delete(key);
    running.ending.abort();
    const ended = running.ended.finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Runs the watches until `signal` aborts, and resolves once all have ended. At most once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#until = signal;
    for (const running of this.#open.values()) this.#start(running, signal);
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.all([
      ...this.#ending,
      ...this.#labelled.values(),
      ...[...this.#open.values()].map(({ ended }) => ended),
    ]);
  }

  #start(running: Running, signal: AbortSignal): void {
    const { kind, isByName, watch, ending } = running;
    if (isByName && !this.#labelled.has(kind))
      this.#labelled.set(kind, this.#watchLabelled(kind, signal));
    running.ended = watch.run(AbortSignal.any([signal, ending.signal]));
  }

  /** One watch for all namespaces whose objects are read by name. */
  #watchLabelled(kind: ObjectRefKind, signal: AbortSignal): Promise<void> {
    const onChange = (namespace: string, name: string): void =>
      this.get(namespace, kind)?.watch.changed(name);
    return watchLabelledObjects({ ...this.#deps, kind, onChange }, signal);
  }
}

function watchKey(namespace: string, kind: ObjectRefKind): string {
  return `${namespace}/${kind}`;
}
