/**
 * Time as a dependency: code that waits gets a `Clock`, so that its tests need no real time. Wall time is for what
 * users read; everything that measures or waits uses the monotonic time.
 */

/** A timer that was started; its owner cancels it when it is no longer needed. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall time in milliseconds since 1970, as `Date.now()`; may jump. */
  now(): number;
  /** Milliseconds since some fixed moment; never jumps. */
  monotonic(): number;
  /** Calls `run` once, not before `delayMs` have passed. */
  setTimeout(run: () => void, delayMs: number): Timer;
}

/** Node replaces a longer delay by 1 ms. */
const longestDelayMs = 2 ** 31 - 1;

/** The real time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: startTimer,
};

function startTimer(run: () => void, delayMs: number): Timer {
  if (delayMs <= longestDelayMs) {
    const handle = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(handle) };
  }
  let timer: Timer;
  const handle = setTimeout(() => {
    timer = startTimer(run, delayMs - longestDelayMs);
  }, longestDelayMs);
  timer = { cancel: () => clearTimeout(handle) };
  return { cancel: () => timer.cancel() };
}

/** Resolves after `delayMs`, or at once when `signal` aborts; never rejects. */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = clock.setTimeout(finish, delayMs);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
