/**
 * Follows the drift of releases: an object is compared when a watch delivers a change of more than its status, and all of them
 * once after an installation or upgrade and at the start. Nothing is compared periodically.
 */
import { createLruCache } from "@flotilla/shared/cache";
import { createSemaphore, untilAborted } from "@flotilla/shared/concurrency";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { ReadinessTracker } from "../readiness/tracker.ts";
import { type ComparedRequest, type KeptDrift, nothingKept } from "./drift-state.ts";
import { type DriftInput, FollowedRelease } from "./followed-release.ts";
import type { ReleaseDrift } from "./release-drift.ts";

export interface DriftTrackerDeps {
  readonly readiness: Pick<
    ReadinessTracker,
    "readinessOf" | "objectsOf" | "onChange" | "onContentChange"
  >;
  readonly clock: Clock;
  readonly log: Log;
}

/** Comparisons at a time. */
const concurrency = 4;
/** Parsed manifests, which are needed again when several objects of a release change. */
const keptManifests = 8;

interface Followed {
  /** What it is followed with, as a text. */
  readonly key: string;
  readonly release: FollowedRelease;
}

/** By the names by which readiness tracks releases. */
export class DriftTracker {
  readonly #deps: DriftTrackerDeps;
  readonly #followed = new Map<string, Followed>();
  /** Releases that are not followed for now. */
  readonly #kept = new Map<string, KeptDrift>();
  readonly #changeListeners: ((name: string) => void)[] = [];
  readonly #comparedListeners: ((name: string) => void)[] = [];
  readonly #permits = createSemaphore(concurrency);
  readonly #manifests = createLruCache<Promise<readonly KubeObject[]>>(keptManifests);
  /** Releases whose comparisons have not ended yet. */
  readonly #ending = new Set<Promise<void>>();

  constructor(deps: DriftTrackerDeps) {
    this.#deps = deps;
    deps.readiness.onChange((name) => this.#followed.get(name)?.release.start());
    deps.readiness.onContentChange((name, owned) =>
      this.#followed.get(name)?.release.objectChanged(owned),
    );
  }

  /** Follows a release from now on; a release that is followed already with the same options stays as it is. */
  track(name: string, input: DriftInput): void {
    const { release: ref, manifestDigest, options, client } = input;
    const key = JSON.stringify([ref, manifestDigest, options, client.subject]);
    if (this.#followed.get(name)?.key === key) return;
    this.suspend(name);
    if (options.mode === "disabled") return;
    const { readiness, clock, log } = this.#deps;
    const release = new FollowedRelease(
      {
        readiness,
        permits: this.#permits,
        onChange: () => call(this.#changeListeners, name),
        onCompared: () => call(this.#comparedListeners, name),
        clock,
        log,
      },
      {
        name,
        input: { ...input, wholeObjects: () => this.#wholeObjects(`${name} ${key}`, input) },
        kept: this.#kept.get(name) ?? nothingKept,
      },
    );
    this.#followed.set(name, { key, release });
    release.start();
  }

  /** Ends the comparisons: the release is paused, or Helm changes it. Its history stays. */
  suspend(name: string): void {
    const release = this.#followed.get(name)?.release;
    if (release === undefined) return;
    this.#followed.delete(name);
    this.#kept.set(name, release.kept);
    const task = release.end().finally(() => this.#ending.delete(task));
    this.#ending.add(task);
  }

  forget(name: string): void {
    this.suspend(name);
    this.#kept.delete(name);
  }

  /** Undefined: it is not followed. */
  driftOf(name: string): ReleaseDrift | undefined {
    return this.#followed.get(name)?.release.drift;
  }

  /**
   * Corrects what is to be corrected now; what fails is in the result of `driftOf`. `request`: the token of a request of a user
   * to correct all of it once, whatever the mode and the back-off.
   */
  async correct(name: string, signal: AbortSignal, request?: string): Promise<void> {
    await this.#followed.get(name)?.release.correct(signal, request);
  }

  /** Compares all objects again, for a request of a user; the listeners of `onCompared` are called when it is done. */
  compareFor(name: string, request: string): void {
    this.#followed.get(name)?.release.compareFor(request);
  }

  /** Undefined: not all objects were compared since the request. */
  comparedFor(name: string, request: string): ComparedRequest | undefined {
    return this.#followed.get(name)?.release.comparedFor(request);
  }

  /** Called with a release whose objects were all compared for a request. */
  onCompared(listener: (name: string) => void): void {
    this.#comparedListeners.push(listener);
  }

  /** Called with a name whose drift has changed, or may be corrected now. */
  onChange(listener: (name: string) => void): void {
    this.#changeListeners.push(listener);
  }

  /** Resolves when `signal` has aborted and all comparisons have ended. */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    for (const name of [...this.#followed.keys()]) this.suspend(name);
    await Promise.all(this.#ending);
  }

  #wholeObjects(key: string, input: DriftInput): Promise<readonly KubeObject[]> {
    const known = this.#manifests.get(key);
    if (known !== undefined) return known;
    const objects = input.wholeObjects();
    this.#manifests.set(key, objects);
    objects.catch(() => this.#manifests.delete(key));
    return objects;
  }
}

function call(listeners: readonly ((name: string) => void)[], name: string): void {
  for (const listener of listeners) listener(name);
}
