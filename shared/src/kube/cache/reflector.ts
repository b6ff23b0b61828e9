/**
 * Keeps a sink equal to what an API server has of one kind: lists in pages, then watches, for ever.
 *
 * A watch that the server ended properly is taken up again from the last version that was seen. After any failure
 * everything is listed anew: the server may have been away, and be back with another past (a restored backup). A version
 * does not tell which past it is of, and a watch from one of another past is silently a wrong one.
 */

import { type Backoff, createBackoff } from "../../concurrency/backoff.ts";
import { AppError } from "../../errors/app-error.ts";
import type { Log } from "../../log/log.ts";
import type { Clock } from "../../time/clock.ts";
import { delay } from "../../time/clock.ts";
import { isConnectionFailure } from "../client/dispatch.ts";
import { type Listed, listAll, type Selection } from "../client/list-all.ts";
import { describeKind } from "../client/request-path.ts";
import type { KubeRest, WatchEvent } from "../client/rest.ts";
import { isGone, KubeStatusError } from "../client/status-error.ts";
import type { KubeObject, Resource } from "../objects/object.ts";

/** What is told of the objects, in order. */
export interface ReflectorSink<T> {
  /** Everything is about to be listed; gives what takes the list. */
  onListing(): (listed: Listed<T>) => void;
  /** It could not be listed, which is tried again. */
  onListFailed(failure: AppError): void;
  onEvent(event: Exclude<WatchEvent<T>, { readonly type: "BOOKMARK" }>): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  readonly selection: Selection;
  /** Applied to each object as soon as it is there. */
  readonly transform: (object: T) => T;
  readonly sink: ReflectorSink<T>;
  /** Aborts when everything is to be listed anew whatever the watch says; asked for once before each list. */
  readonly untilRefresh: () => AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
  /** Between 0 and 1. */
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

/** What comes after a watch. */
interface NextStep {
  /** Where to watch on from; `undefined` when everything is to be listed first. */
  readonly version: string | undefined;
  readonly waitMs: number;
  /** What went wrong, if anything did. */
  readonly error?: AppError;
}

const listAnew: NextStep = { version: undefined, waitMs: 0 };

const shortestWatchSeconds = 290;
const longestWatchSeconds = 580;
/** A watch that ends sooner without an event is a server with a problem, which must not be asked in a tight loop. */
const shortestLifeMs = 1_000;
/** A watch that lived longer was a success, however it ended. */
const goodLifeMs = 120_000;
const backoffMs = { firstMs: 800, longestMs: 30_000 };
const longestRetryAfterMs = 60_000;

/** Runs until `signal` aborts; never throws. */
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
  let refresh = options.untilRefresh();

  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    let waitMs: number;
    let error: AppError | undefined;
    try {
      if (version === undefined) {
        refresh = options.untilRefresh();
        const onList = sink.onListing();
        const listed = await listAll({ rest, resource, selection, transform, signal });
        onList(listed);
        version = listed.resourceVersion;
      }
      const end = await watchOnce(options, version, AbortSignal.any([signal, refresh]));
      // Neither a failure nor a reason to look any further: we were told to end.
      if (isOver()) return;
      ({ version, waitMs, error } = refresh.aborted ? listAnew : decide(end));
    } catch (thrown) {
      if (isOver()) return;
      error = AppError.from(thrown);
      version = undefined;
      waitMs = waitAfter(error, backoff);
      log.warn({ err: error, waitMs: Math.round(waitMs) }, "list failed");
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
      log.warn({ waitMs: Math.round(waitMs) }, "watch ended at once");
      return { version: undefined, waitMs };
    }
    if (isGone(error)) {
      log.debug({ err: error }, "watch is too far behind, listing anew");
      // Only a server whose lists are too old for its own watches says so twice in a row.
      return { version: undefined, waitMs: failures === 1 ? 0 : backoff.next() };
    }
    const waitMs = waitAfter(error, backoff);
    log.warn({ err: error, waitMs: Math.round(waitMs) }, "watch failed");
    return { version: undefined, waitMs, error };
  };
}

/** Waits, but beyond the first delay no longer than until a server that was away answers somebody. */
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
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const isBack = rest.nextResponse(either).then(() => {
      if (!either.aborted) backoff.reset();
    });
    await delay(clock, firstMs, signal);
    await Promise.race([isBack, delay(clock, waitMs - firstMs, either)]);
    over.abort();
  };
}

function waitAfter(error: AppError, backoff: Backoff): number {
  const waitMs = backoff.next();
  const askedMs = error instanceof KubeStatusError ? error.retryAfterMs : undefined;
  return askedMs === undefined ? waitMs : Math.min(askedMs, longestRetryAfterMs);
}
