/** Why an agent is not read for a while. What it says then waits on its side: nothing is lost, and nobody else waits. */

export interface Brake {
  /** Reading stops until every reason was released. */
  hold(reason: string): void;
  release(reason: string): void;
}

export interface BrakeOptions {
  readonly pause: () => void;
  readonly resume: () => void;
}

export function createBrake({ pause, resume }: BrakeOptions): Brake {
  const reasons = new Set<string>();
  return {
    hold(reason) {
      reasons.add(reason);
      if (reasons.size === 1) pause();
    },
    release(reason) {
      if (reasons.delete(reason) && reasons.size === 0) resume();
    },
  };
}
