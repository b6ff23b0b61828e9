/**
 * Requests that callers share: callers of one key at the same time share a request, and its result or failure serves later
 * callers for which it is fresh enough.
 */
import { createLruCache, type WeightLimit } from "../../../runtime/cache/index.ts";
import { createSingleFlight } from "../../../runtime/concurrency/index.ts";
import type { Clock } from "../../../runtime/time/index.ts";
import type { Freshness } from "../index.ts";

export interface SharedRequest<T> extends Freshness {
  readonly signal?: AbortSignal | undefined;
  /** Requests of one key that cannot share a pending result, such as another way to parse it. */
  readonly variant?: string;
  /** Whether an earlier result serves this caller, when it is fresh enough; by default every result does. */
  readonly accepts?: (result: T) => boolean;
}

export interface SharedRequests<T> {
  /** The latest result of a key, however old. */
  latest(key: string): T | undefined;
  /** A result that is fresh enough; `send` sends the request when there is none. */
  get(
    key: string,
    request: SharedRequest<T>,
    send: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

interface Sent<T> {
  readonly result: T;
  /** On the monotonic clock. */
  readonly sentAt: number;
}

export function createSharedRequests<T>(deps: {
  readonly clock: Pick<Clock, "monotonic">;
  readonly maxResults: number;
  readonly maxFailures: number;
  /** The limit of the results; absent: only their number counts. */
  readonly limit?: WeightLimit<T> | undefined;
}): SharedRequests<T> {
  const { limit } = deps;
  const results = createLruCache<Sent<T>>(
    deps.maxResults,
    limit && { ...limit, weightOf: ({ result }) => limit.weightOf(result) },
  );
  const failures = createLruCache<Sent<unknown>>(deps.maxFailures);
  const flights = createSingleFlight<Sent<T>>();

  /** An aborted request says nothing about the source, so it is not a failure. */
  async function attempt(
    key: string,
    send: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Sent<T>> {
    const sentAt = deps.clock.monotonic();
    try {
      const result = await send(signal);
      failures.delete(key);
      return { result, sentAt };
    } catch (error) {
      if (!signal.aborted) failures.set(key, { result: error, sentAt });
      throw error;
    }
  }

  return {
    latest: (key) => results.get(key)?.result,
    async get(key, { since, trigger = "", signal, variant = "", accepts = () => true }, send) {
      const isFresh = (sent: Sent<unknown> | undefined): sent is Sent<unknown> =>
        sent !== undefined && since !== undefined && sent.sentAt >= since;
      const known = results.get(key);
      if (known !== undefined && isFresh(known) && accepts(known.result)) return known.result;
      const failure = failures.get(key);
      if (isFresh(failure)) throw failure.result;
      const sent = await flights.run(
        JSON.stringify([key, variant, trigger]),
        (shared) => attempt(key, send, shared),
        signal,
      );
      // A request that was sent earlier may end later.
      if ((results.get(key)?.sentAt ?? 0) <= sent.sentAt) results.set(key, sent);
      return sent.result;
    },
  };
}
