/** Long work on the event loop, in slices: between them everything else has its turn. */
export interface TimeSlices {
  /** Whether the work is to pause. */
  readonly isOver: boolean;
  /** Lets others have their turn; the next slice begins. */
  pause(): Promise<void>;
}

const defaultSliceMs = 10;

export function createTimeSlices(sliceMs = defaultSliceMs): TimeSlices {
  let startedAt = performance.now();
  return {
    get isOver() {
      return performance.now() - startedAt >= sliceMs;
    },
    async pause() {
      await new Promise<void>((resolve) => setImmediate(resolve));
      startedAt = performance.now();
    },
  };
}
