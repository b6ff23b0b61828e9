/** Limits how fast one agent is read: a flood of messages waits on the agent's side and costs the others nothing. */
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";

export interface ReceiveLimitOptions {
  readonly clock: Clock;
  /** Stop reading. */
  readonly onExceeded: () => void;
  /** Read again. */
  readonly onAvailable: () => void;
}

export interface ReceiveLimit {
  /** Counts one message that was read. */
  received(): void;
  close(): void;
}

/** In messages. Enough for a cluster with thousands of deployments that reports all of them when it connects. */
export const receiveLimits = { burst: 2_000, perSecond: 500 } as const;

/** How long reading stops once the burst is spent: not once for each message. */
const pauseMs = 200;

export function createReceiveLimit(options: ReceiveLimitOptions): ReceiveLimit {
  const { clock, onExceeded, onAvailable } = options;
  const { burst, perSecond } = receiveLimits;
  let tokens: number = burst;
  let at = clock.monotonic();
  let timer: Timer | undefined;

  return {
    received() {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + ((now - at) / 1_000) * perSecond) - 1;
      at = now;
      if (tokens >= 1 || timer !== undefined) return;
      onExceeded();
      timer = clock.setTimeout(() => {
        timer = undefined;
        onAvailable();
      }, pauseMs);
    },
    close() {
      timer?.cancel();
    },
  };
}
