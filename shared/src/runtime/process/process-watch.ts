/**
 * Ends processes that exceed their limits. One timer reads the use of all of them, and stops while there is none. The kernel's
 * own limits do not serve: an address space limit ends every Go and Node program, and a cgroup of its own needs rights that a
 * container does not have.
 */
import { killGroup } from "./kill-group.ts";
import { exceededLimit, largestOverTotal, type ProcessLimits } from "./limits.ts";
import { killFirst, renice, usageOf, usageOfAll, withDescendants } from "./process-usage.ts";

export interface ProcessWatch {
  /**
   * Watches a process that leads a process group. If it exceeds a limit, `onExceeded` gets what it did, and the group is
   * killed. Processor time counts from now on.
   */
  start(pid: number, limits: ProcessLimits, onExceeded: (what: string) => void): WatchedProcess;
  /** Calls `listener` with the number of slow processes whenever it changes; returns the function that ends this. */
  onSlow(listener: (count: number) => void): () => void;
}

export interface WatchedProcess {
  /** It has used so much processor time that it only gets what others leave. Nothing gives it its priority back. */
  readonly isSlow: boolean;
  end(): void;
}

interface Watched {
  readonly pid: number;
  readonly limits: ProcessLimits;
  readonly startCpuMs: number;
  readonly onExceeded: (what: string) => void;
  isSlow: boolean;
}

/** A process that allocates as fast as it can gets about 50 MiB further. */
const intervalMs = 50;

/** A thirtieth of what a normal process gets, so that a large chart is read even while many others are installed. */
const slowNice = 15;

/** `totalBytes`: the limit of all processes together. */
export function createProcessWatch({ totalBytes }: { readonly totalBytes: number }): ProcessWatch {
  const watched = new Set<Watched>();
  const slow = new Set<Watched>();
  const slowListeners = new Set<(count: number) => void>();
  let timer: NodeJS.Timeout | undefined;

  function end(one: Watched, what: string): void {
    forget(one);
    one.onExceeded(what);
    killGroup(one.pid, "SIGKILL");
  }

  function notify(): void {
    for (const listener of slowListeners) listener(slow.size);
  }

  function forget(one: Watched): void {
    watched.delete(one);
    if (slow.delete(one)) notify();
  }

  function slowDown(one: Watched): void {
    for (const pid of pidsOf(one)) renice(pid, slowNice);
    one.isSlow = true;
    slow.add(one);
    notify();
  }

  function pidsOf({ pid, limits }: Watched): readonly number[] {
    return limits.withChildren === true ? withDescendants(pid) : [pid];
  }

  function check(): void {
    const running = [];
    for (const one of watched) {
      const usage = usageOfAll(pidsOf(one));
      if (usage === undefined) continue;
      const own = { ...usage, cpuMs: usage.cpuMs - one.startCpuMs };
      const what = exceededLimit(own, one.limits);
      if (what !== undefined) end(one, what);
      else {
        running.push({ one, ...own });
        if (own.cpuMs > one.limits.fullPriorityCpuMs && !one.isSlow) slowDown(one);
      }
    }
    const largest = largestOverTotal(running, totalBytes);
    if (largest !== undefined)
      end(
        largest.one,
        `used ${Math.round(largest.memoryBytes / 1024 / 1024)} MiB of memory, the most of all processes, which together may use ${Math.round(totalBytes / 1024 / 1024)} MiB`,
      );
    stopIfUnused();
  }

  function stopIfUnused(): void {
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    start(pid, limits, onExceeded) {
      killFirst(pid);
      const startCpuMs = usageOf(pid)?.cpuMs ?? 0;
      const one: Watched = { pid, limits, startCpuMs, onExceeded, isSlow: false };
      watched.add(one);
      timer ??= setInterval(check, intervalMs).unref();
      return {
        get isSlow() {
          return one.isSlow;
        },
        end() {
          forget(one);
          stopIfUnused();
        },
      };
    },
    onSlow(listener) {
      slowListeners.add(listener);
      return () => void slowListeners.delete(listener);
    },
  };
}
