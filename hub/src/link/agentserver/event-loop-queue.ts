/**
 * Runs short synchronous work of many calls in slices of one event loop iteration, so that other work runs in between.
 */
import type { Clock } from "@flotilla/shared/time";

/** `sliceMs`: after this, the rest waits for the next iteration. */
export function createEventLoopQueue(clock: Clock, sliceMs: number) {
  const queue = new Set<() => void>();
  let isScheduled = false;

  function runSlice(): void {
    const startedAt = clock.monotonic();
    for (const work of queue) {
      queue.delete(work);
      work();
      if (clock.monotonic() - startedAt >= sliceMs) break;
    }
    isScheduled = queue.size > 0;
    if (isScheduled) setImmediate(runSlice);
  }

  return {
    /** Runs the work in a later iteration, in the order of the calls; returns the function that removes it from the queue. */
    add(work: () => void): () => void {
      queue.add(work);
      if (!isScheduled) setImmediate(runSlice);
      isScheduled = true;
      return () => void queue.delete(work);
    },
  };
}
