/** Which of the messages of something that is tried again and again are worth a line of a log. */
import type { Clock } from "../time/clock.ts";

/** Often enough for a log that is rotated every day, or of which somebody sees the last hour. */
const repeatEveryMs = 10 * 60_000;

export interface Repeats {
  /** Whether the message is another one than the last, or has not been told for ten minutes. Counts as told if so. */
  isNews(message: string): boolean;
  /** It is over: the next message is news, whatever it says. */
  reset(): void;
}

export function createRepeats(clock: Clock): Repeats {
  let last: { readonly message: string; readonly at: number } | undefined;
  return {
    isNews(message) {
      const at = clock.monotonic();
      if (last?.message === message && at - last.at < repeatEveryMs) return false;
      last = { message, at };
      return true;
    },
    reset() {
      last = undefined;
    },
  };
}
