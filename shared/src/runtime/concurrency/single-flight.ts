/** Single flight: callers that need the same result at the same time share one run. */

export interface SingleFlight<T> {
  /** Joins the run of this key, or starts one. The run is aborted when the signals of all its callers have aborted. */
  run(key: string, task: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Flight<T> {
  readonly result: Promise<T>;
  readonly abort: AbortController;
  callers: number;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();

  function start(key: string, task: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const abort = new AbortController();
    const result = task(abort.signal).finally(() => {
      if (flights.get(key)?.abort === abort) flights.delete(key);
    });
    // All callers may have left before it fails.
    result.catch(() => undefined);
    const flight = { result, abort, callers: 0 };
    flights.set(key, flight);
    return flight;
  }

  return {
    async run(key, task, signal) {
      signal?.throwIfAborted();
      const flight = flights.get(key) ?? start(key, task);
      flight.callers++;
      const left = Promise.withResolvers<never>();
      const leave = (): void => left.reject(asError(signal?.reason));
      signal?.addEventListener("abort", leave, { once: true });
      try {
        return await Promise.race([flight.result, left.promise]);
      } finally {
        signal?.removeEventListener("abort", leave);
        flight.callers--;
        if (flight.callers === 0) {
          if (flights.get(key) === flight) flights.delete(key);
          flight.abort.abort();
        }
      }
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
