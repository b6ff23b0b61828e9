/** What work costs, for tests of what grows with its input. */

/** The CPU that this process uses for `work`, ms: a busy machine makes it wait, which is not in it. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
