/** How long work may go on when the process is asked to end. */
import type { Clock, Timer } from "@flotilla/shared/time";

/** Most runs of Helm take less. One that is interrupted leaves a failed revision, and is repeated by the next agent. */
export const drainMs = 5_000;

export interface Drain {
  /** Aborts `drainMs` after `stop` has, or at once with `lost`. */
  readonly signal: AbortSignal;
  /** To be called when the work has ended. */
  cancel(): void;
}

export function createDrain(
  { stop, lost }: { readonly stop: AbortSignal; readonly lost: AbortSignal },
  clock: Clock,
): Drain {
  const abort = new AbortController();
  let timer: Timer | undefined;
  const end = (): void => abort.abort(stop.reason);
  const start = (): void => {
    timer = clock.setTimeout(end, drainMs);
  };
  if (lost.aborted) end();
  else lost.addEventListener("abort", end, { once: true });
  if (stop.aborted) start();
  else stop.addEventListener("abort", start, { once: true });
  return {
    signal: abort.signal,
    cancel() {
      timer?.cancel();
      stop.removeEventListener("abort", start);
      lost.removeEventListener("abort", end);
    },
  };
}
