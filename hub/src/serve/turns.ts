/** Work that comes in crowds, some of it in each turn of the event loop: whatever else there is to do goes on beside it. */
import type { Clock } from "@flotilla/shared/time/clock.ts";

export interface Turns {
  /** Does it in one of the next turns, in the order in which it came; gives what takes it back. */
  put(work: () => void): () => void;
}

/** `longestMs`: after this, what still waits is left to the next turn. */
export function createTurns(clock: Clock, longestMs: number): Turns {
  const waiting = new Set<() => void>();
  let isGoingOn = false;

  function workSome(): void {
    const begunAt = clock.monotonic();
    for (const work of waiting) {
      waiting.delete(work);
      work();
      if (clock.monotonic() - begunAt >= longestMs) break;
    }
    isGoingOn = waiting.size > 0;
    if (isGoingOn) setImmediate(workSome);
  }

  return {
    put(work) {
      waiting.add(work);
      if (!isGoingOn) setImmediate(workSome);
      isGoingOn = true;
      return () => void waiting.delete(work);
    },
  };
}
