/**
 * One revision of a release whose drift is followed: compares its objects when they change, and corrects them when it is called.
 * The state is `drift-state.ts`'s; here are the comparisons, the timer and the requests to the API server.
 */
import type { Semaphore } from "@flotilla/shared/concurrency";
import type { DriftContent } from "@flotilla/shared/content";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime, type Timer } from "@flotilla/shared/time";
import type { ReadinessTracker } from "../readiness/tracker.ts";
import { planCorrection } from "./back-off.ts";
import { type DriftSources, driftSources } from "./compared-objects.ts";
import { type Comparisons, createComparisons } from "./comparisons.ts";
import type { ReleaseRef } from "./desired-object.ts";
import type { DriftObject, ObjectComparison, ObjectDrift } from "./drift.ts";
import {
  type ComparedRequest,
  type DriftState,
  initialState,
  type KeptDrift,
  newDrift,
  withBackedOff,
  withComparison,
  withCorrection,
  withFailure,
  withProgress,
  withRequest,
  withUncompared,
} from "./drift-state.ts";
import { compareObject, correctObject, failureText, isAboutObject } from "./object-access.ts";
import { type ReleaseDrift, releaseDrift } from "./release-drift.ts";

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

export interface FollowedReleaseDeps {
  readonly readiness: Pick<ReadinessTracker, "readinessOf" | "objectsOf">;
  /** Limits the comparisons of all releases. */
  readonly permits: Pick<Semaphore, "run">;
  /** Called when the drift has changed, or may be corrected now. */
  readonly onChange: () => void;
  /** Called when all objects were compared for a request. */
  readonly onCompared: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface FollowedReleaseOptions {
  /** By which readiness tracks it. */
  readonly name: string;
  readonly input: DriftInput;
  /** What is known from its earlier revisions. */
  readonly kept: KeptDrift;
}

export class FollowedRelease {
  readonly #deps: FollowedReleaseDeps;
  readonly #name: string;
  readonly #input: DriftInput;
  readonly #sources: DriftSources;
  readonly #comparisons: Comparisons;
  /** Comparisons of all objects that have not ended. */
  readonly #requested = new Set<Promise<void>>();
  #state: DriftState;
  /** How many requests there were. */
  #requests = 0;
  #timer: Timer | undefined;
  /** All objects were, or are being, compared. */
  #isStarted = false;
  #hasEnded = false;

  constructor(deps: FollowedReleaseDeps, { name, input, kept }: FollowedReleaseOptions) {
    const { readiness, permits, clock } = deps;
    this.#deps = deps;
    this.#name = name;
    this.#input = input;
    this.#state = initialState(kept);
    this.#comparisons = createComparisons({
      compare: (key, signal) => this.#compare(key, signal),
      onFailure: (key, thrown) => this.#notCompared(key, thrown),
      isResult: isAboutObject,
      permits,
      clock,
    });
    this.#sources = driftSources({
      release: input.release,
      options: input.options,
      wholeObjects: input.wholeObjects,
      resources: () => readiness.objectsOf(name),
    });
  }

  get drift(): ReleaseDrift {
    const { comparisons, failed, uncompared, history, corrections } = this.#state;
    return releaseDrift({
      options: this.#input.options,
      comparisons,
      failed,
      uncompared,
      history,
      corrections,
      order: () => this.#sources.order(),
      nowMs: this.#deps.clock.now(),
    });
  }

  /** For its next revision. */
  get kept(): KeptDrift {
    const { history, corrections, foreign } = this.#state;
    return { history, corrections, foreign };
  }

  /** Compares all objects, once all were read, so that no later change of them is missed. May be called at any time. */
  start(): void {
    const { readiness } = this.#deps;
    if (this.#isStarted || readiness.readinessOf(this.#name) === undefined) return;
    this.#isStarted = true;
    for (const key of this.#keys()) this.#comparisons.request(key);
    const { request } = this.#state;
    if (request !== undefined) this.#compareAll(request.token);
  }

  /** An object was created, changed or deleted. */
  objectChanged(object: DriftObject): void {
    if (this.#isStarted) this.#comparisons.request(this.#sources.keyOf(object));
  }

  /** See DriftTracker. */
  compareFor(token: string): void {
    const before = this.#state;
    this.#state = withRequest(before, token);
    if (this.#state === before) return;
    this.#requests += 1;
    if (this.#isStarted) this.#compareAll(token);
  }

  /** See DriftTracker. */
  comparedFor(token: string): ComparedRequest | undefined {
    const { request } = this.#state;
    return request?.token === token && request.isCompared ? request : undefined;
  }

  /** See DriftTracker. */
  async correct(signal: AbortSignal, request?: string): Promise<void> {
    const isRequested = request !== undefined;
    const { objects, correctable } = this.drift;
    for (const drift of isRequested ? objects : correctable)
      await this.#correctOne(drift, { signal, isRequested });
    if (isRequested) this.#state = withProgress(this.#state, request, { isCorrected: true });
    this.#changed();
  }

  /** Aborts the comparisons; resolves when they have ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#timer?.cancel();
    await Promise.all([this.#comparisons.end(), ...this.#requested]);
  }

  #keys(): readonly string[] {
    const objects = this.#deps.readiness.objectsOf(this.#name);
    return objects.map(({ owned }) => this.#sources.keyOf(owned));
  }

  /** For a release whose objects were read. */
  #compareAll(token: string): void {
    const request = this.#requests;
    const compared = Promise.all(this.#keys().map((key) => this.#comparisons.refresh(key)));
    const task: Promise<void> = compared.then(() => {
      this.#requested.delete(task);
      // A later request may have the same token again.
      if (request !== this.#requests) return;
      this.#state = withProgress(this.#state, token, { isCompared: true });
      if (!this.#hasEnded) this.#deps.onCompared();
    });
    this.#requested.add(task);
  }

  async #compare(key: string, signal: AbortSignal): Promise<void> {
    const target = await this.#sources.find(key);
    if (target === undefined) return;
    const comparison = await compareObject(this.#input.client.rest, target, signal);
    // Helm changes its objects itself meanwhile.
    if (!signal.aborted && this.#input.isCurrent()) this.#compared(key, comparison);
  }

  #compared(key: string, comparison: ObjectComparison): void {
    const { clock, log } = this.#deps;
    const found = newDrift(this.#state, key, comparison);
    const next = withComparison(this.#state, key, { comparison, nowMs: clock.now() });
    if (next === this.#state) return;
    this.#state = next;
    if (found !== undefined) {
      const { what } = found;
      log.info({ release: this.#name, object: key, what }, "drift of an object detected");
    }
    this.#changed();
  }

  #notCompared(key: string, thrown: unknown): void {
    const err = failureText(thrown);
    this.#deps.log.debug({ release: this.#name, key, err }, "could not compare an object");
    // A server that is unavailable says nothing of the objects.
    if (!isAboutObject(thrown)) return;
    const next = withUncompared(this.#state, key, err);
    if (next === this.#state) return;
    this.#state = next;
    this.#changed();
  }

  #changed(): void {
    const { clock, onChange } = this.#deps;
    const { backedOff, nextAtMs, corrects } = this.drift;
    this.#state = withBackedOff(this.#state, backedOff, clock.now());
    this.#timer?.cancel();
    this.#timer = undefined;
    // Corrected as soon as it may be.
    if (nextAtMs !== undefined && !corrects && !this.#hasEnded)
      this.#timer = clock.setTimeout(() => this.#changed(), Math.max(0, nextAtMs - clock.now()));
    onChange();
  }

  async #correctOne(
    drift: ObjectDrift,
    { signal, isRequested }: { readonly signal: AbortSignal; readonly isRequested: boolean },
  ): Promise<void> {
    const { clock, log } = this.#deps;
    const key = this.#sources.keyOf(drift.object);
    const about = { release: this.#name, object: key };
    const atMs = clock.now();
    const corrections = isRequested ? [] : this.#state.corrections;
    const { backedOff } = planCorrection(drift, corrections, atMs);
    try {
      const excluded = backedOff.map(({ pointer }) => pointer);
      const corrected = await this.#correctObject(key, excluded, signal);
      this.#state = withCorrection(this.#state, key, { drift: corrected, isRequested, atMs });
      if (corrected !== undefined) log.info(about, "drift of an object corrected");
      if (backedOff.length > 0) this.#comparisons.request(key);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const [message, failedAtMs] = [failureText(thrown), clock.now()];
      this.#state = withFailure(this.#state, key, { drift, message, atMs, failedAtMs });
      const retryAt = formatTime(this.#state.failed.get(key)?.retryAtMs ?? failedAtMs);
      log.warn({ ...about, retryAt, err: message }, "drift was not corrected");
    }
  }

  /** `excluded`: JSON pointers of fields that are left as they are. Returns what was corrected. */
  async #correctObject(
    key: string,
    excluded: readonly string[],
    signal: AbortSignal,
  ): Promise<ObjectDrift | undefined> {
    const { client, options } = this.#input;
    const target = await this.#sources.find(key);
    if (target === undefined) return undefined;
    const isForced = options.force === true;
    return await correctObject(client.rest, target, { excluded, isForced, signal });
  }
}
