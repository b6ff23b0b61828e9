/** A clock that only a test moves. */
import type { Clock, Timer } from "../index.ts";

export interface FakeClock extends Clock {
  /** Runs what is due by then, in order, and lets promises settle after each timer. */
  advance(ms: number): Promise<void>;
  /** As `advance`, without letting promises settle in between. */
  advanceNow(ms: number): void;
  /** Passes time as for a frozen process: timers that are due run with the next `advance`. */
  freeze(ms: number): void;
  /** Moves only the wall time, as a corrected system clock does. */
  setWallTime(epochMs: number): void;
  /** The remaining time of each waiting timer, shortest first. */
  waiting(): readonly number[];
  /** The delay of a waiting timer for which `matches` is true, as soon as there is one. */
  timer(matches?: (delayMs: number) => boolean): Promise<number>;
}

interface FakeTimer {
  readonly dueAt: number;
  readonly order: number;
  readonly run: () => void;
}

/** `startMs`: the wall time at its start. */
export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new Set<FakeTimer>();
  const observers = new Set<() => void>();
  let elapsedMs = 0;
  let wallOffsetMs = startMs;
  let order = 0;

  function setTimeout(run: () => void, delayMs: number): Timer {
    const timer: FakeTimer = { dueAt: elapsedMs + Math.max(0, delayMs), order: order++, run };
    timers.add(timer);
    for (const check of observers) check();
    return { cancel: () => void timers.delete(timer) };
  }

  function nextDue(until: number): FakeTimer | undefined {
    let next: FakeTimer | undefined;
    for (const timer of timers) {
      if (timer.dueAt > until) continue;
      if (
        next === undefined ||
        timer.dueAt < next.dueAt ||
        (timer.dueAt === next.dueAt && timer.order < next.order)
      )
        next = timer;
    }
    return next;
  }

  /** Runs one timer that is due by `until`; false when there is none. */
  function runNext(until: number): boolean {
    const timer = nextDue(until);
    if (timer === undefined) return false;
    timers.delete(timer);
    elapsedMs = Math.max(elapsedMs, timer.dueAt);
    timer.run();
    return true;
  }

  return {
    now: () => wallOffsetMs + elapsedMs,
    monotonic: () => elapsedMs,
    setTimeout,
    async advance(ms) {
      const until = elapsedMs + ms;
      await settle();
      while (runNext(until)) await settle();
      elapsedMs = until;
    },
    advanceNow(ms) {
      const until = elapsedMs + ms;
      while (runNext(until));
      elapsedMs = until;
    },
    freeze(ms) {
      elapsedMs += ms;
    },
    setWallTime(epochMs) {
      wallOffsetMs = epochMs - elapsedMs;
    },
    waiting: () => [...timers].map((timer) => timer.dueAt - elapsedMs).sort((a, b) => a - b),
    timer: (matches = () => true) =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = [...timers].map((timer) => timer.dueAt - elapsedMs).find(matches);
          if (found === undefined) return;
          observers.delete(check);
          resolve(found);
        };
        observers.add(check);
        check();
      }),
  };
}

/** Lets every promise that can settle without I/O do so. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
