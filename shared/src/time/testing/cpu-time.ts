/** Measures CPU time, for tests of work that grows with its input. */

/** The CPU time that this process uses for `work`, ms: waiting for a busy machine is not included. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
