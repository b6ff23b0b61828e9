/** The limits of an agent's processes that read what tenants wrote. Pure. */
import type { ProcessLimits } from "@flotilla/shared/process";

export interface AgentLimits {
  readonly helm: ProcessLimits;
  /** For one task of a reader. */
  readonly reader: ProcessLimits;
  /** Memory of all of them together. */
  readonly totalBytes: number;
}

const MiB = 1024 * 1024;

/** What the agent itself needs. */
const reservedBytes = 192 * MiB;

/** `memoryBytes`: the limit of the agent's container, or the memory of the machine. */
export function processLimits(memoryBytes: number): AgentLimits {
  const totalBytes = Math.max(memoryBytes - reservedBytes, Math.floor(memoryBytes / 2));
  return {
    helm: { memoryBytes: Math.min(1024 * MiB, totalBytes), cpuMs: 60_000, fullPriorityCpuMs: 200 },
    reader: { memoryBytes: Math.min(512 * MiB, totalBytes), cpuMs: 10_000, fullPriorityCpuMs: 50 },
    totalBytes,
  };
}

/** Processor time that the plugin of Helm and kustomize take to start. */
const startOthersCpuMs = 400;

/** For a process that starts others: all of them together have its limits, and what it takes to start them is not slow. */
export function limitsWithChildren(limits: ProcessLimits): ProcessLimits {
  const fullPriorityCpuMs = limits.fullPriorityCpuMs + startOthersCpuMs;
  return { ...limits, withChildren: true, fullPriorityCpuMs };
}
