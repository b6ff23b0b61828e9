/**
 * Tracks the readiness of releases by watching their objects. A change is reported at once, and only for the releases that own
 * the object.
 */
import { untilAborted } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { OwnedObject } from "../../helm/index.ts";
import { createDiscovery, type Discovery } from "./discovery.ts";
import { createPodReasons, type PodReasons } from "./pods/index.ts";
import type { Readiness } from "./readiness.ts";
import { ReleaseReadiness, type TrackedObject, type TrackedRelease } from "./release-readiness.ts";
import { createSharedObjects, type SharedObject, type TrackedKey } from "./shared-objects.ts";
import { type ChangedObject, createWatchedKinds, type WatchedKinds } from "./watched-kinds.ts";

export interface ReadinessDeps {
  /** For discovery. */
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
}

export class ReadinessTracker {
  readonly #deps: ReadinessDeps;
  readonly #discovery: Discovery;
  readonly #kinds: WatchedKinds;
  readonly #pods: PodReasons;
  readonly #shared = createSharedObjects();
  readonly #releases = new Map<string, ReleaseReadiness>();
  readonly #listeners: ((name: string) => void)[] = [];
  readonly #contentListeners: ((name: string, object: OwnedObject) => void)[] = [];
  readonly #tasks = new Set<Promise<void>>();

  constructor(deps: ReadinessDeps) {
    const { rest, clock, log } = deps;
    this.#deps = deps;
    this.#discovery = createDiscovery(rest, clock);
    this.#kinds = createWatchedKinds({
      clock,
      log,
      onChange: (names) => {
        for (const name of names) this.#releases.get(name)?.update();
      },
      onContentChange: (object, names) => this.#contentChanged(object, names),
    });
    this.#pods = createPodReasons({
      clock,
      log,
      onChange: (name) => this.#releases.get(name)?.update(),
    });
  }

  /** Replaces the objects that are tracked under this name. */
  track(name: string, objects: readonly OwnedObject[], release: TrackedRelease): void {
    const { clock, log } = this.#deps;
    this.#drop(name);
    const tracked = new ReleaseReadiness(
      {
        discovery: this.#discovery,
        kinds: this.#kinds,
        pods: this.#pods,
        supervise: (work, signal) => this.#supervise(name, work, signal),
        onDiscovered: (found) => this.#share(name, found),
        onChange: () => this.#report(name),
        clock,
        log,
      },
      { name, objects, release },
    );
    this.#releases.set(name, tracked);
    tracked.start(() => this.#kinds.prune());
  }

  forget(name: string): void {
    this.#drop(name);
    this.#share(name, []);
    this.#kinds.prune();
  }

  /** Undefined until every object was read once. */
  readinessOf(name: string): Readiness | undefined {
    return this.#releases.get(name)?.readiness;
  }

  /** The objects that other tracked releases have as well, once the kinds of all were discovered. */
  sharedObjectsOf(name: string): readonly SharedObject[] {
    return this.#shared.of(name);
  }

  /** The objects that can be read, once all were read. */
  objectsOf(name: string): readonly TrackedObject[] {
    return this.#releases.get(name)?.objects ?? [];
  }

  /** Called with a name whose readiness or whose shared objects have changed. */
  onChange(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Called with an object of a release of which more than the status has changed, or that was created or deleted. */
  onContentChange(listener: (name: string, object: OwnedObject) => void): void {
    this.#contentListeners.push(listener);
  }

  /** Resolves when `signal` has aborted and all tasks have ended. */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    for (const name of [...this.#releases.keys()]) this.#drop(name);
    await Promise.all([this.#kinds.end(), this.#pods.end()]);
    await Promise.all(this.#tasks);
  }

  #drop(name: string): void {
    const tracked = this.#releases.get(name);
    this.#releases.delete(name);
    tracked?.drop();
  }

  #share(name: string, objects: readonly TrackedKey[]): void {
    for (const other of this.#shared.set(name, objects)) this.#report(other);
  }

  #report(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }

  #contentChanged(object: ChangedObject, names: ReadonlySet<string>): void {
    for (const name of names)
      for (const owned of this.#releases.get(name)?.ownedBy(object) ?? [])
        for (const listener of this.#contentListeners) listener(name, owned);
  }

  #supervise(name: string, work: Promise<void>, signal: AbortSignal): void {
    const task = work
      .catch((thrown: unknown) => {
        if (signal.aborted) return;
        this.#deps.log.error(
          { release: name, err: messageOf(thrown) },
          "readiness tracking failed",
        );
      })
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }
}
