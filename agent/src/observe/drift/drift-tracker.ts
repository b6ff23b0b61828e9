/**
 * Follows the drift of releases: an object is compared when a watch delivers a change of more than its status, and all of them
 * once after an installation or upgrade and at the start. Nothing is compared periodically.
 */
import { createLruCache } from "@flotilla/shared/cache";
import { backoffDelayMs, createSemaphore, untilAborted } from "@flotilla/shared/concurrency";
import type { DriftContent } from "@flotilla/shared/content";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime, type Timer } from "@flotilla/shared/time";
import type { ReadinessTracker } from "../readiness/tracker.ts";
import { type Correction, correctionsOf, correctionWindowMs, planCorrection } from "./back-off.ts";
import { type DriftSources, driftSources } from "./compared-objects.ts";
import { type Comparisons, createComparisons } from "./comparisons.ts";
import type { ReleaseRef } from "./desired-object.ts";
import type { DriftEvent, ObjectComparison, ObjectDrift } from "./drift.ts";
import { driftEvent, foreignEvents, withEvent } from "./drift-history.ts";
import { compareObject, correctObject, failureText, isAboutObject } from "./object-access.ts";
import { type CorrectionFailure, type ReleaseDrift, releaseDrift } from "./release-drift.ts";

/** A release whose drift is followed. */
export interface DriftInput {
  readonly release: ReleaseRef & { readonly revision: number };
  /** The digest of its manifest, which the agent may change without a new revision. */
  readonly manifestDigest: string;
  readonly options: DriftContent;
  /** Impersonated: objects are compared and corrected with the account's rights. */
  readonly client: { readonly subject: string; readonly rest: KubeRest };
  /** The objects of the manifest, as the agent installed it. Throws if somebody has changed the record. */
  readonly wholeObjects: () => Promise<readonly KubeObject[]>;
  /** False while Helm changes the release, and after it did. */
  readonly isCurrent: () => boolean;
}

export interface DriftTracker {
  /** Follows a release from now on; a release that is followed already with the same options stays as it is. */
  track(name: string, input: DriftInput): void;
  /** Ends the comparisons: the release is paused, or Helm changes it. Its history stays. */
  suspend(name: string): void;
  forget(name: string): void;
  /** Undefined: it is not followed. */
  driftOf(name: string): ReleaseDrift | undefined;
  /**
   * Corrects what is to be corrected now; what fails is in the result of `driftOf`. `request`: the token of a request of a user
   * to correct all of it once, whatever the mode and the back-off.
   */
  correct(name: string, signal: AbortSignal, request?: string): Promise<void>;
  /** Compares all objects again, for a request of a user; the listeners of `onCompared` are called when it is done. */
  compareFor(name: string, request: string): void;
  /** Undefined: not all objects were compared since the request. */
  comparedFor(name: string, request: string): ComparedRequest | undefined;
  /** Called with a release whose objects were all compared for a request. */
  onCompared(listener: (name: string) => void): void;
  /** Called with a name whose drift has changed, or may be corrected now. */
  onChange(listener: (name: string) => void): void;
  /** Resolves when `signal` has aborted and all comparisons have ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** What was done since a request of a user, in this process. */
export interface ComparedRequest {
  /** All drift was corrected once, as far as it can be. */
  readonly isCorrected: boolean;
  /** Objects that were corrected. */
  readonly corrected: number;
}

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
/** The retries of a correction that failed. */
const retries = { firstMs: 5_000, longestMs: 10 * 60_000 };
/** Parsed manifests, which are needed again when several objects of a release change. */
const keptManifests = 8;

/** What survives an upgrade. */
interface Kept {
  history: readonly DriftEvent[];
  corrections: readonly Correction[];
  /** What others had added to an object at its last comparison, by object. */
  readonly foreign: Map<string, readonly string[]>;
}

/** With what others have added since; a controller that sets a field again and again has added it once. */
function withForeign(
  { history, foreign }: Kept,
  key: string,
  events: readonly DriftEvent[],
): readonly DriftEvent[] {
  const known = foreign.get(key) ?? [];
  const ids = events.map(({ manager, fields }) => JSON.stringify([manager, fields]));
  if (ids.length === 0) foreign.delete(key);
  else foreign.set(key, ids);
  const added = events.filter((_, index) => !known.includes(ids[index] ?? ""));
  return added.reduce(withEvent, history);
}

const asDesired: ObjectComparison = { foreign: [] };

interface Tracked extends DriftInput {
  readonly key: string;
  readonly sources: DriftSources;
  /** The last results. */
  readonly compared: Map<string, ObjectComparison>;
  readonly comparisons: Comparisons;
  readonly failed: Map<string, CorrectionFailure>;
  /** Why objects cannot be compared. */
  readonly uncompared: Map<string, string>;
  /** All objects were, or are being, compared. */
  isStarted: boolean;
  request?: { token: string; isCompared: boolean; isCorrected: boolean; corrected: number };
  timer?: Timer | undefined;
}

export function createDriftTracker({ readiness, clock, log }: DriftTrackerDeps): DriftTracker {
  const releases = new Map<string, Tracked>();
  const kept = new Map<string, Kept>();
  const listeners: ((name: string) => void)[] = [];
  const compared: ((name: string) => void)[] = [];
  const permits = createSemaphore(concurrency);
  const manifests = createLruCache<Promise<readonly KubeObject[]>>(keptManifests);
  const tasks = new Set<Promise<void>>();

  readiness.onChange(start);
  readiness.onContentChange((name, owned) => {
    const tracked = releases.get(name);
    if (tracked?.isStarted === true) tracked.comparisons.request(tracked.sources.keyOf(owned));
  });

  /** Compares all objects, once all were read, so that no later change of them is missed. */
  function start(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined || tracked.isStarted || readiness.readinessOf(name) === undefined)
      return;
    tracked.isStarted = true;
    for (const { owned } of readiness.objectsOf(name))
      tracked.comparisons.request(tracked.sources.keyOf(owned));
    if (tracked.request !== undefined) compareAll(name, tracked, tracked.request);
  }

  /** For a release whose objects were read. */
  function compareAll(
    name: string,
    { comparisons, sources }: Tracked,
    request: NonNullable<Tracked["request"]>,
  ): void {
    const keys = readiness.objectsOf(name).map(({ owned }) => sources.keyOf(owned));
    const task: Promise<void> = Promise.all(keys.map((key) => comparisons.refresh(key))).then(
      () => {
        tasks.delete(task);
        request.isCompared = true;
        if (releases.get(name)?.request === request)
          for (const listener of compared) listener(name);
      },
    );
    tasks.add(task);
  }

  function wholeObjects(key: string, input: DriftInput): Promise<readonly KubeObject[]> {
    const known = manifests.get(key);
    if (known !== undefined) return known;
    const objects = input.wholeObjects();
    manifests.set(key, objects);
    objects.catch(() => manifests.delete(key));
    return objects;
  }

  async function compare(
    name: string,
    tracked: Tracked,
    { key, signal }: { readonly key: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const target = await tracked.sources.find(key);
    if (target === undefined) return;
    const comparison = await compareObject(tracked.client.rest, target, signal);
    // Helm changes its objects itself meanwhile.
    if (!signal.aborted && tracked.isCurrent()) observed(name, tracked, key, comparison);
  }

  function observed(
    name: string,
    tracked: Tracked,
    key: string,
    comparison: ObjectComparison,
  ): void {
    const before = tracked.compared.get(key) ?? asDesired;
    const isCompared = tracked.uncompared.delete(key);
    if (JSON.stringify(before) === JSON.stringify(comparison)) {
      if (isCompared) changed(name, tracked);
      return;
    }
    tracked.compared.set(key, comparison);
    const own = keptOf(name);
    const { drift, foreign } = comparison;
    const isNew = drift !== undefined && JSON.stringify(drift) !== JSON.stringify(before.drift);
    if (isNew) own.history = withEvent(own.history, driftEvent(drift, clock.now(), "Detected"));
    if (drift === undefined) tracked.failed.delete(key);
    own.history = withForeign(own, key, foreignEvents(foreign, clock.now()));
    if (isNew)
      log.info({ release: name, object: key, what: drift.what }, "drift of an object detected");
    changed(name, tracked);
  }

  function notCompared(
    name: string,
    tracked: Tracked,
    { key, thrown }: { readonly key: string; readonly thrown: unknown },
  ): void {
    const err = failureText(thrown);
    log.debug({ release: name, key, err }, "could not compare an object");
    // A server that is unavailable says nothing of the objects.
    if (!isAboutObject(thrown) || tracked.uncompared.get(key) === err) return;
    tracked.uncompared.set(key, err);
    changed(name, tracked);
  }

  function changed(name: string, tracked: Tracked): void {
    const own = keptOf(name);
    const drift = stateOf(tracked, own);
    for (const { drift: backedOff } of drift.backedOff)
      own.history = withEvent(own.history, driftEvent(backedOff, clock.now(), "BackedOff"));
    tracked.timer?.cancel();
    tracked.timer = undefined;
    // Corrected as soon as it may be.
    if (drift.nextAtMs !== undefined && !drift.corrects)
      tracked.timer = clock.setTimeout(
        () => changed(name, tracked),
        Math.max(0, drift.nextAtMs - clock.now()),
      );
    for (const listener of listeners) listener(name);
  }

  function stateOf(tracked: Tracked, { history, corrections }: Kept): ReleaseDrift {
    return releaseDrift({
      options: tracked.options,
      history,
      corrections,
      failed: tracked.failed,
      uncompared: tracked.uncompared,
      comparisons: tracked.compared,
      order: tracked.sources.order,
      nowMs: clock.now(),
    });
  }

  function keptOf(name: string): Kept {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const fresh: Kept = { history: [], corrections: [], foreign: new Map() };
    kept.set(name, fresh);
    return fresh;
  }

  function suspend(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined) return;
    releases.delete(name);
    tracked.timer?.cancel();
    const task = tracked.comparisons.end().finally(() => tasks.delete(task));
    tasks.add(task);
  }

  async function correctOne(
    name: string,
    tracked: Tracked,
    drift: ObjectDrift,
    { signal, isRequested }: { readonly signal: AbortSignal; readonly isRequested: boolean },
  ): Promise<void> {
    const key = tracked.sources.keyOf(drift.object);
    const own = keptOf(name);
    const nowMs = clock.now();
    // The back-off is for corrections that nobody asks for.
    const corrections = isRequested ? [] : own.corrections;
    const { backedOff } = planCorrection(drift, corrections, nowMs);
    try {
      const target = await tracked.sources.find(key);
      const corrected =
        target &&
        (await correctObject(tracked.client.rest, target, {
          excluded: backedOff.map(({ pointer }) => pointer),
          isForced: tracked.options.force === true,
          signal,
        }));
      tracked.failed.delete(key);
      if (corrected !== undefined) {
        own.corrections = [
          ...own.corrections.filter(({ atMs }) => atMs > nowMs - correctionWindowMs),
          ...(isRequested ? [] : correctionsOf(corrected, nowMs)),
        ];
        if (tracked.request !== undefined) tracked.request.corrected += 1;
        own.history = withEvent(own.history, driftEvent(corrected, nowMs, "Corrected"));
        log.info({ release: name, object: key }, "drift of an object corrected");
      }
      const { foreign } = tracked.compared.get(key) ?? asDesired;
      tracked.compared.set(key, { foreign });
      if (backedOff.length > 0) tracked.comparisons.request(key);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const count = (tracked.failed.get(key)?.count ?? 0) + 1;
      const message = failureText(thrown);
      const retryAtMs = clock.now() + backoffDelayMs(retries, count);
      tracked.failed.set(key, { count, message, retryAtMs });
      own.history = withEvent(own.history, driftEvent(drift, nowMs, "CorrectionFailed"));
      const retryAt = formatTime(retryAtMs);
      log.warn({ release: name, object: key, retryAt, err: message }, "drift was not corrected");
    }
  }

  return {
    track(name, input) {
      const { release, manifestDigest, options, client } = input;
      const key = JSON.stringify([release, manifestDigest, options, client.subject]);
      if (releases.get(name)?.key === key) return;
      suspend(name);
      if (options.mode === "disabled") return;
      const tracked: Tracked = {
        ...input,
        key,
        compared: new Map(),
        failed: new Map(),
        uncompared: new Map(),
        isStarted: false,
        comparisons: createComparisons({
          compare: (each, signal) => compare(name, tracked, { key: each, signal }),
          onFailure: (each, thrown) => notCompared(name, tracked, { key: each, thrown }),
          isResult: isAboutObject,
          permits,
          clock,
        }),
        sources: driftSources({
          release,
          options,
          wholeObjects: () => wholeObjects(`${name} ${key}`, input),
          resources: () => readiness.objectsOf(name),
        }),
      };
      releases.set(name, tracked);
      start(name);
    },
    suspend,
    forget(name) {
      suspend(name);
      kept.delete(name);
    },
    driftOf(name) {
      const tracked = releases.get(name);
      return tracked && stateOf(tracked, keptOf(name));
    },
    async correct(name, signal, request) {
      const tracked = releases.get(name);
      if (tracked === undefined) return;
      const isRequested = request !== undefined;
      const state = stateOf(tracked, keptOf(name));
      for (const drift of isRequested ? state.objects : state.correctable)
        await correctOne(name, tracked, drift, { signal, isRequested });
      if (isRequested && tracked.request?.token === request) tracked.request.isCorrected = true;
      changed(name, tracked);
    },
    compareFor(name, token) {
      const tracked = releases.get(name);
      if (tracked === undefined || tracked.request?.token === token) return;
      tracked.request = { token, isCompared: false, isCorrected: false, corrected: 0 };
      if (tracked.isStarted) compareAll(name, tracked, tracked.request);
    },
    comparedFor(name, token) {
      const request = releases.get(name)?.request;
      return request?.token === token && request.isCompared ? request : undefined;
    },
    onCompared(listener) {
      compared.push(listener);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      await untilAborted(signal);
      for (const name of [...releases.keys()]) suspend(name);
      await Promise.all(tasks);
    },
  };
}
