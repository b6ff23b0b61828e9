/** Work that comes in crowds, some of it in each turn of the event loop: whatever else there is to do goes on beside it. */
import type { Clock } from "@flotilla/shared/clock/clock.ts";

export interface EventLoopQueue {
  /** Does it in one of the next turns, in the order in which it came; gives what takes it back. */
  add(work: () => void): () => void;
}

/** `longestMs`: after this, what still waits is left to the next turn. */
export function createEventLoopQueue(clock: Clock, longestMs: number): EventLoopQueue {
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
    add(work) {
      waiting.add(work);
      if (!isGoingOn) setImmediate(workSome);
      isGoingOn = true;
      return () => void waiting.delete(work);
    },
  };
}
