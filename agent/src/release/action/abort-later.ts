import type { Clock, Timer } from "@flotilla/shared/time";

/** Aborts this long after `signal` has, unless it is cancelled before. */
export function abortLater(
  signal: AbortSignal,
  delayMs: number,
  clock: Clock,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const late = new AbortController();
  let timer: Timer | undefined;
  const start = (): void => {
    if (delayMs === 0) late.abort();
    else timer = clock.setTimeout(() => late.abort(), delayMs);
  };
  if (signal.aborted) start();
  else signal.addEventListener("abort", start, { once: true });
  return {
    signal: late.signal,
    cancel: () => {
      signal.removeEventListener("abort", start);
      timer?.cancel();
    },
  };
}
