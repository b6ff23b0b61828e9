/**
 * Follows the drift of releases: an object is compared when a watch delivers a change of more than its status, and all of them
 * once after an installation or upgrade and at the start. Nothing is compared periodically.
 */
import { createLruCache } from "@flotilla/shared/cache";
import { backoffDelayMs, createSemaphore, untilAborted } from "@flotilla/shared/concurrency";
import type { DriftContent } from "@flotilla/shared/content";
import { messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime, type Timer } from "@flotilla/shared/time";
import type { ReadinessTracker } from "../readiness/index.ts";
import { type Correction, correctionsOf, correctionWindowMs, planCorrection } from "./back-off.ts";
import { type DriftSources, driftSources } from "./compared-objects.ts";
import type { ReleaseRef } from "./desired-object.ts";
import type { DriftEvent, ObjectComparison, ObjectDrift } from "./drift.ts";
import { driftEvent, foreignEvents, withEvent } from "./drift-history.ts";
import { compareObject, correctObject, failureText } from "./object-access.ts";
import { type CorrectionFailure, type ReleaseDrift, releaseDrift } from "./release-drift.ts";

/** A release whose drift is followed. */
export interface DriftInput {
  readonly release: ReleaseRef & { readonly revision: number };
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
  /** Corrects what is to be corrected now; what fails is in the result of `driftOf`. */
  correct(name: string, signal: AbortSignal): Promise<void>;
  /** Called with a name whose drift has changed, or may be corrected now. */
  onChange(listener: (name: string) => void): void;
  /** Resolves when `signal` has aborted and all comparisons have ended. */
  run(signal: AbortSignal): Promise<void>;
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
/** Between two comparisons of an object that changes all the time. */
const intervalMs = 500;
/** Of a correction or a comparison that failed. */
const retries = { firstMs: 5_000, longestMs: 10 * 60_000 };
/** Parsed manifests, which are needed again when several objects of a release change. */
const keptManifests = 16;

interface Followed {
  comparison: ObjectComparison;
  comparedAtMs: number;
  failures: number;
  isRunning: boolean;
  /** It has changed since its comparison began. */
  isStale: boolean;
  timer?: Timer | undefined;
}

/** What survives an upgrade. */
interface Kept {
  history: readonly DriftEvent[];
  corrections: readonly Correction[];
  readonly reported: Set<string>;
}

interface Tracked extends DriftInput {
  readonly key: string;
  readonly sources: DriftSources;
  readonly followed: Map<string, Followed>;
  readonly failed: Map<string, CorrectionFailure>;
  readonly ended: AbortController;
  /** All objects were, or are being, compared. */
  isStarted: boolean;
  timer?: Timer | undefined;
}

export function createDriftTracker({ readiness, clock, log }: DriftTrackerDeps): DriftTracker {
  const releases = new Map<string, Tracked>();
  const kept = new Map<string, Kept>();
  const listeners: ((name: string) => void)[] = [];
  const permits = createSemaphore(concurrency);
  const manifests = createLruCache<readonly KubeObject[]>(keptManifests);
  const tasks = new Set<Promise<void>>();

  readiness.onChange(start);
  readiness.onContentChange((name, owned) => {
    const tracked = releases.get(name);
    if (tracked?.isStarted === true) compare(name, tracked, tracked.sources.keyOf(owned));
  });

  /** Compares all objects, once all were read, so that no later change of them is missed. */
  function start(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined || tracked.isStarted || readiness.readinessOf(name) === undefined)
      return;
    tracked.isStarted = true;
    for (const { owned } of readiness.objectsOf(name))
      compare(name, tracked, tracked.sources.keyOf(owned));
  }

  function compare(name: string, tracked: Tracked, key: string): void {
    const followed = followedOf(tracked, key);
    followed.isStale = true;
    if (followed.isRunning || followed.timer !== undefined) return;
    const waitMs = followed.comparedAtMs + intervalMs - clock.monotonic();
    if (waitMs > 0) {
      compareLater(name, tracked, key, waitMs);
      return;
    }
    const task = compareNow(name, tracked, key, followed).finally(() => tasks.delete(task));
    tasks.add(task);
  }

  function compareLater(name: string, tracked: Tracked, key: string, waitMs: number): void {
    const followed = followedOf(tracked, key);
    followed.timer?.cancel();
    followed.timer = clock.setTimeout(() => {
      followed.timer = undefined;
      compare(name, tracked, key);
    }, waitMs);
  }

  async function compareNow(
    name: string,
    tracked: Tracked,
    key: string,
    followed: Followed,
  ): Promise<void> {
    const { client, ended, isCurrent } = tracked;
    followed.isRunning = true;
    followed.isStale = false;
    try {
      const comparison = await permits.run(async () => {
        ended.signal.throwIfAborted();
        followed.comparedAtMs = clock.monotonic();
        const target = await tracked.sources.find(key);
        return target && (await compareObject(client.rest, target, ended.signal));
      });
      if (ended.signal.aborted || comparison === undefined) return;
      followed.failures = 0;
      // Helm changes its objects itself now.
      if (isCurrent()) observed(name, tracked, key, comparison);
    } catch (thrown) {
      if (ended.signal.aborted) return;
      followed.failures += 1;
      log.debug({ release: name, key, err: messageOf(thrown) }, "could not compare an object");
      const waitMs = backoffDelayMs(retries, followed.failures);
      clock.setTimeout(() => !ended.signal.aborted && compare(name, tracked, key), waitMs);
    } finally {
      followed.isRunning = false;
      if (followed.isStale && !ended.signal.aborted) compare(name, tracked, key);
    }
  }

  function observed(
    name: string,
    tracked: Tracked,
    key: string,
    comparison: ObjectComparison,
  ): void {
    const followed = followedOf(tracked, key);
    const before = followed.comparison;
    if (JSON.stringify(before) === JSON.stringify(comparison)) return;
    followed.comparison = comparison;
    const own = keptOf(name);
    const { drift, foreign } = comparison;
    const isNew = drift !== undefined && JSON.stringify(drift) !== JSON.stringify(before.drift);
    if (isNew) own.history = withEvent(own.history, driftEvent(drift, clock.now(), "Detected"));
    if (drift === undefined) tracked.failed.delete(key);
    for (const event of foreignEvents(foreign, clock.now())) {
      const id = JSON.stringify(event);
      if (own.reported.has(id)) continue;
      own.reported.add(id);
      own.history = withEvent(own.history, event);
    }
    if (isNew)
      log.info({ release: name, object: key, what: drift.what }, "drift of an object detected");
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
      ...{ options: tracked.options, history, corrections, failed: tracked.failed },
      comparisons: tracked.followed,
      order: tracked.sources.order,
      nowMs: clock.now(),
    });
  }

  function followedOf(tracked: Tracked, key: string): Followed {
    const known = tracked.followed.get(key);
    if (known !== undefined) return known;
    const fresh: Followed = {
      ...{ comparison: { foreign: [] }, comparedAtMs: Number.NEGATIVE_INFINITY, failures: 0 },
      ...{ isRunning: false, isStale: false },
    };
    tracked.followed.set(key, fresh);
    return fresh;
  }

  function keptOf(name: string): Kept {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const fresh: Kept = { history: [], corrections: [], reported: new Set() };
    kept.set(name, fresh);
    return fresh;
  }

  function suspend(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined) return;
    releases.delete(name);
    tracked.ended.abort();
    tracked.timer?.cancel();
    for (const { timer } of tracked.followed.values()) timer?.cancel();
  }

  async function correctOne(
    name: string,
    tracked: Tracked,
    drift: ObjectDrift,
    signal: AbortSignal,
  ): Promise<void> {
    const key = tracked.sources.keyOf(drift.object);
    const own = keptOf(name);
    const nowMs = clock.now();
    const { backedOff } = planCorrection(drift, own.corrections, nowMs);
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
          ...correctionsOf(corrected, nowMs),
        ];
        own.history = withEvent(own.history, driftEvent(corrected, nowMs, "Corrected"));
        log.info({ release: name, object: key }, "drift of an object corrected");
      }
      const followed = followedOf(tracked, key);
      followed.comparison = { ...followed.comparison, drift: undefined };
      if (backedOff.length > 0) compare(name, tracked, key);
    } catch (thrown) {
      if (signal.aborted || tracked.ended.signal.aborted) throw thrown;
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
      const { release, options, client } = input;
      const key = JSON.stringify([release, options, client.subject]);
      if (releases.get(name)?.key === key) return;
      suspend(name);
      if (options.mode === "disabled") return;
      const { namespace, name: releaseName, revision } = release;
      const manifest = `${namespace}/${releaseName}.v${revision} ${name}`;
      const wholeObjects = async (): Promise<readonly KubeObject[]> => {
        const known = manifests.get(manifest);
        if (known !== undefined) return known;
        const objects = await input.wholeObjects();
        manifests.set(manifest, objects);
        return objects;
      };
      releases.set(name, {
        ...{ ...input, key, followed: new Map(), failed: new Map() },
        sources: driftSources({
          ...{ release, options, wholeObjects },
          resources: () => readiness.objectsOf(name),
        }),
        ended: new AbortController(),
        isStarted: false,
      });
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
    async correct(name, signal) {
      const tracked = releases.get(name);
      if (tracked === undefined) return;
      for (const drift of stateOf(tracked, keptOf(name)).correctable)
        await correctOne(name, tracked, drift, signal);
      changed(name, tracked);
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
