/**
 * Limits the rate at which one agent is read: a flood of messages waits on the agent's side and does not affect others.
 */
import { createTokenBucket } from "@flotilla/shared/concurrency";
import type { Clock, Timer } from "@flotilla/shared/time";

export interface ReceiveLimitOptions {
  readonly clock: Clock;
  /** Stop reading. */
  readonly onExceeded: () => void;
  /** Read again. */
  readonly onAvailable: () => void;
}

/** In messages. Enough for a cluster with thousands of deployments that reports all of them when it connects. */
export const receiveLimits = { burst: 2_000, perSecond: 500 } as const;

/** Reading stops for at least this once the burst is spent, not once for each message. */
const shortestPauseMs = 200;

export function createReceiveLimit(options: ReceiveLimitOptions) {
  const { clock, onExceeded, onAvailable } = options;
  const bucket = createTokenBucket({ clock, ...receiveLimits });
  let timer: Timer | undefined;

  return {
    /** Counts one message that was read. */
    received(): void {
      const waitMs = bucket.reserve();
      if (waitMs === 0 || timer !== undefined) return;
      onExceeded();
      timer = clock.setTimeout(
        () => {
          timer = undefined;
          onAvailable();
        },
        Math.max(shortestPauseMs, waitMs),
      );
    },
    close(): void {
      timer?.cancel();
    },
  };
}
