/** The limits of processes that read what tenants wrote, and which of them a process exceeds. Pure. */

/** The use of one process since it is watched. */
export interface ProcessUsage {
  /** Resident memory. */
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

export interface ProcessLimits {
  readonly memoryBytes: number;
  /** Processor time: a process that waits, such as Helm for readiness, uses none. */
  readonly cpuMs: number;
  /** Afterwards it only gets what others leave. */
  readonly fullPriorityCpuMs: number;
  /** The processes that it starts count, too. */
  readonly withChildren?: boolean;
}

const MiB = 1024 * 1024;

/** What a process did, for messages; undefined if it is within its limits. */
export function exceededLimit(usage: ProcessUsage, limits: ProcessLimits): string | undefined {
  if (usage.memoryBytes > limits.memoryBytes)
    return `used more than ${Math.round(limits.memoryBytes / MiB)} MiB of memory`;
  if (usage.cpuMs > limits.cpuMs)
    return `used more than ${limits.cpuMs / 1000} s of processor time`;
  return undefined;
}

/** The process to be ended because all of them together use too much: the largest. */
export function largestOverTotal<T extends ProcessUsage>(
  processes: readonly T[],
  totalBytes: number,
): T | undefined {
  const sum = processes.reduce((bytes, { memoryBytes }) => bytes + memoryBytes, 0);
  if (sum <= totalBytes) return undefined;
  return processes.reduce((largest, each) =>
    each.memoryBytes > largest.memoryBytes ? each : largest,
  );
}
