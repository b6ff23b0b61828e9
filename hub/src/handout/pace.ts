/** How fast one agent is listened to: one that floods is read no faster than this, and costs the others nothing. */
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";

export interface PaceOptions {
  readonly clock: Clock;
  /** Read no more. */
  readonly onFast: () => void;
  readonly onCalm: () => void;
}

export interface Pace {
  /** One more message was read. */
  heard(): void;
  close(): void;
}

/** Enough for a cluster with thousands of deployments that tells of all of them when it connects. */
export const paceLimits = { burst: 2_000, perSecond: 500 } as const;

/** So long nothing is read when the burst is spent: not once for each message. */
const restMs = 200;

export function createPace({ clock, onFast, onCalm }: PaceOptions): Pace {
  let tokens: number = paceLimits.burst;
  let at = clock.monotonic();
  let timer: Timer | undefined;

  return {
    heard() {
      const now = clock.monotonic();
      tokens = Math.min(paceLimits.burst, tokens + ((now - at) / 1_000) * paceLimits.perSecond) - 1;
      at = now;
      if (tokens >= 1 || timer !== undefined) return;
      onFast();
      timer = clock.setTimeout(() => {
        timer = undefined;
        onCalm();
      }, restMs);
    },
    close() {
      timer?.cancel();
    },
  };
}
