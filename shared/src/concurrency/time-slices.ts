/** Long work on the event loop, in slices: between them everything else has its turn. */
export interface TimeSlices {
  /** Whether the work is to pause. */
  readonly isOver: boolean;
  /** Lets others have their turn; the next slice begins. */
  pause(): Promise<void>;
}

const defaultSliceMs = 10;

let latestTurn: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of one's own: in each round of the event loop one caller goes on, in all of the process. A hundred pieces of work,
 * each short enough, would otherwise hold it up together.
 */
export function nextTurn(): Promise<void> {
  latestTurn = latestTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return latestTurn;
}

export function createTimeSlices(sliceMs = defaultSliceMs): TimeSlices {
  let startedAt = performance.now();
  return {
    get isOver() {
      return performance.now() - startedAt >= sliceMs;
    },
    async pause() {
      await nextTurn();
      startedAt = performance.now();
    },
  };
}
