/** Changes of readiness at a rate: releases become not ready, one agent after the other, and are ready again after a while. */
import { type Clock, delay } from "@flotilla/shared/time";

export interface SimulatedChangesOptions {
  /** How many in a second, all agents together; 0: none. */
  readonly perSecond: number;
  /** Changes the readiness of an agent's release: not ready if all are ready, and ready again otherwise. */
  readonly agents: readonly (() => void)[];
}

/** Those that are due are made this often: timers are too coarse for one of each change. */
const tickMs = 20;
/** One in so many agents has a release that is not ready, at any time. */
const unreadyEvery = 10;

/** Until `signal` aborts; never rejects. */
export async function runChanges(
  { perSecond, agents }: SimulatedChangesOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  if (perSecond === 0 || agents.length === 0) return;
  const startedMs = clock.monotonic();
  for (let made = 0; ; ) {
    const due = Math.floor(((clock.monotonic() - startedMs) * perSecond) / 1_000);
    for (; made < due; made += 1) agents[changedBy(made, agents.length)]?.();
    await delay(clock, tickMs, signal);
    if (signal.aborted) return;
  }
}

/** Which of `count` agents makes a change: a next one becomes not ready, then the one that is so the longest is ready again. */
function changedBy(change: number, count: number): number {
  const unready = Math.floor(count / unreadyEvery);
  if (change < unready) return change;
  const pair = Math.floor((change - unready) / 2);
  return ((change - unready) % 2 === 0 ? unready + pair : pair) % count;
}
