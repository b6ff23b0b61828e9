/** Long work on the event loop, in slices: between them everything else has its turn. */
export interface TimeSlices {
  /** Whether the work is to pause. */
  readonly isOver: boolean;
  /** Lets others have their turn; the next slice begins. */
  pause(): Promise<void>;
}

const defaultSliceMs = 10;

let latestIteration: Promise<void> = Promise.resolve();

/**
 * Yields to the event loop: one caller continues in each of its iterations, in all of the process. A hundred pieces of work, each short
 * enough, would otherwise block it together.
 */
export function nextIteration(): Promise<void> {
  latestIteration = latestIteration.then(() => new Promise((resolve) => setImmediate(resolve)));
  return latestIteration;
}

export function createTimeSlices(sliceMs = defaultSliceMs): TimeSlices {
  let startedAt = performance.now();
  return {
    get isOver() {
      return performance.now() - startedAt >= sliceMs;
    },
    async pause() {
      await nextIteration();
      startedAt = performance.now();
    },
  };
}
