/**
 * How CPU time grows with the size of the input, for tests of work that tenants choose the size of. Two sizes are compared on
 * the same machine at the same time, so neither its speed nor what else runs on it decides.
 */

export interface Sizes {
  readonly small: number;
  readonly large: number;
}

/** Pauses of the garbage collector and cold caches only ever add, so the least of several rounds counts. */
const rounds = 3;
/** Less is not measured exactly: short work is repeated. */
const shortestMs = 2;
const mostRuns = 2_000;

/** The exponent of the growth: about 0 for work that does not depend on the size, 1 if it is linear, 2 if it is quadratic. */
export function growthOf({ small, large }: Sizes, work: (size: number) => void): number {
  const smallMs = cpuMs(() => work(small));
  return Math.log(cpuMs(() => work(large)) / smallMs) / Math.log(large / small);
}

/** The CPU time of one run of `work`, ms, which other threads and processes do not add to. It runs several times. */
export function cpuMs(work: () => void): number {
  return Math.min(...Array.from({ length: rounds }, () => cpuMsOfRound(work)));
}

function cpuMsOfRound(work: () => void): number {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs += 1) {
    work();
    const { user, system } = process.threadCpuUsage(before);
    const usedMs = (user + system) / 1_000;
    if (usedMs >= shortestMs || runs === mostRuns) return usedMs / runs;
  }
}
