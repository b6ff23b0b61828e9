/**
 * Keeps a sink equal to what an API server has of one kind: lists in pages, then watches, until it is stopped.
 *
 * After a watch that the server ended properly, the next one starts from the last resourceVersion. After any failure
 * everything is listed again: the server may be back with another history (a restored backup). A resourceVersion does
 * not say which history it belongs to, and a watch from one of another history misses changes silently.
 */

import { type Backoff, createBackoff } from "../../runtime/concurrency/index.ts";
import { AppError } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { type Clock, delay } from "../../runtime/time/index.ts";
import {
  describeKind,
  isConnectionFailure,
  isGone,
  isTooManyRequests,
  type KubeRest,
  KubeStatusError,
  type Listed,
  listAll,
  type Selection,
  type WatchEvent,
} from "../client/index.ts";
import type { KubeObject, Resource } from "../objects/index.ts";

/** Takes what the reflector delivers, in order. */
export interface ReflectorSink<T> {
  /** A list starts; returns the function that takes its objects. */
  onListStarted(): (listed: Listed<T>) => void;
  /** A list failed; it is retried. */
  onListFailed(failure: AppError): void;
  /** A watch ended with an error: from now on the server may have another history. */
  onWatchFailed(): void;
  onEvent(event: Exclude<WatchEvent<T>, { readonly type: "BOOKMARK" }>): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  readonly selection: Selection;
  /** Applied to each object as soon as it arrives. */
  readonly transform: (object: T) => T;
  readonly sink: ReflectorSink<T>;
  /** Returns a signal that aborts when a relist is requested, whatever the state of the watch; called before each list. */
  readonly relistRequested: () => AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** How one watch ended. */
export interface WatchEnd {
  readonly events: number;
  readonly lifeMs: number;
  /** The version of the last event or bookmark. */
  readonly version: string;
  /** Absent when the server ended it properly. */
  readonly error?: AppError;
}

/** What follows a watch. */
interface NextStep {
  /** Where the next watch starts; `undefined`: list first. */
  readonly version: string | undefined;
  readonly waitMs: number;
  readonly error?: AppError;
}

const relist: NextStep = { version: undefined, waitMs: 0 };

const shortestWatchSeconds = 290;
const longestWatchSeconds = 580;
/** A watch that ends sooner without an event counts as a failure: without backoff it would be a tight loop. */
const shortestLifeMs = 1_000;
/** A watch that lived longer resets the backoff, however it ended. */
const goodLifeMs = 120_000;
const backoffMs = { firstMs: 800, longestMs: 30_000 };
const longestRetryAfterMs = 60_000;
/** In a row, of a server that asks to come later, before it is logged. */
const busyFailures = 3;

/** Runs until `signal` aborts; never rejects. */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { rest, resource, selection, transform, sink } = options;
  const log = options.log.child({ kind: describeKind(resource) });
  const backoff = createBackoff({ ...backoffMs, random: options.random });
  const decide = createDecision(backoff, log);
  const pause = createPause(options, backoff, signal);
  let version: string | undefined;
  let relistRequest = options.relistRequested();

  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    let waitMs: number;
    let error: AppError | undefined;
    try {
      if (version === undefined) {
        relistRequest = options.relistRequested();
        const onList = sink.onListStarted();
        const listed = await listAll({ rest, resource, selection, transform, signal });
        onList(listed);
        version = listed.resourceVersion;
      }
      const end = await watchOnce(options, version, AbortSignal.any([signal, relistRequest]));
      if (isStopped()) return;
      if (end.error !== undefined && !relistRequest.aborted) sink.onWatchFailed();
      ({ version, waitMs, error } = relistRequest.aborted ? relist : decide(end));
    } catch (thrown) {
      if (isStopped()) return;
      error = AppError.from(thrown);
      version = undefined;
      waitMs = waitAfter(error, backoff);
      log.warn({ err: error, waitMs: Math.round(waitMs) }, "list failed, retrying");
      sink.onListFailed(error);
    }
    if (waitMs > 0) await pause(waitMs, error);
  }
}

/** One watch, from `from` until it ends. */
async function watchOnce<T extends KubeObject>(
  options: ReflectorOptions<T>,
  from: string,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const { clock, random, rest, resource, selection, transform, sink } = options;
  const startedAt = clock.monotonic();
  const timeoutSeconds = Math.round(
    shortestWatchSeconds + random() * (longestWatchSeconds - shortestWatchSeconds),
  );
  let version = from;
  let events = 0;
  let error: AppError | undefined;
  try {
    for await (const event of rest.watch(resource, {
      ...selection,
      resourceVersion: from,
      timeoutSeconds,
      signal,
    })) {
      if (event.type === "BOOKMARK") {
        version = event.resourceVersion === "" ? version : event.resourceVersion;
        continue;
      }
      events++;
      version = event.object.metadata.resourceVersion ?? version;
      sink.onEvent({ type: event.type, object: transform(event.object) });
    }
  } catch (thrown) {
    error = AppError.from(thrown);
  }
  return {
    events,
    lifeMs: clock.monotonic() - startedAt,
    version,
    ...(error === undefined ? {} : { error }),
  };
}

function createDecision(backoff: Backoff, log: Log): (end: WatchEnd) => NextStep {
  let failures = 0;

  return function decide({ events, lifeMs, version, error }) {
    if (events > 0 || lifeMs > goodLifeMs) {
      backoff.reset();
      failures = 0;
    }
    if (error === undefined && (events > 0 || lifeMs >= shortestLifeMs))
      return { version, waitMs: 0 };

    failures++;
    if (error === undefined) {
      const waitMs = backoff.next();
      log.warn({ waitMs: Math.round(waitMs) }, "watch ended at once, retrying");
      return { version: undefined, waitMs };
    }
    if (isGone(error)) {
      log.debug({ err: error }, "watch is too far behind, listing again");
      // Twice in a row only by a server whose lists are too old for its own watches.
      return { version: undefined, waitMs: failures === 1 ? 0 : backoff.next() };
    }
    const waitMs = waitAfter(error, backoff);
    const isBusy = isTooManyRequests(error) && failures <= busyFailures;
    log[isBusy ? "debug" : "warn"](
      { err: error, waitMs: Math.round(waitMs) },
      "watch failed, retrying",
    );
    return { version: undefined, waitMs, error };
  };
}

/** Waits `waitMs`; after a connection failure no longer than until the server responds to any request. */
function createPause<T extends KubeObject>(
  { clock, rest }: ReflectorOptions<T>,
  backoff: Backoff,
  signal: AbortSignal,
): (waitMs: number, error: AppError | undefined) => Promise<void> {
  return async function pause(waitMs, error) {
    const firstMs = Math.min(waitMs, backoffMs.firstMs);
    if (error === undefined || !isConnectionFailure(error) || waitMs === firstMs) {
      await delay(clock, waitMs, signal);
      return;
    }
    const waited = new AbortController();
    const either = AbortSignal.any([signal, waited.signal]);
    const isBack = rest.nextResponse(either).then(() => {
      if (!either.aborted) backoff.reset();
    });
    await delay(clock, firstMs, signal);
    await Promise.race([isBack, delay(clock, waitMs - firstMs, either)]);
    waited.abort();
  };
}

function waitAfter(error: AppError, backoff: Backoff): number {
  const waitMs = backoff.next();
  const retryAfterMs = error instanceof KubeStatusError ? error.retryAfterMs : undefined;
  return retryAfterMs === undefined ? waitMs : Math.min(retryAfterMs, longestRetryAfterMs);
}
