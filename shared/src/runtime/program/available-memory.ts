/** The memory that this process and its children may use. */
import { totalmem } from "node:os";

/** The limit of the container (cgroup v2 or v1), or the memory of the machine where there is none. */
export function availableMemoryBytes(): number {
  return memoryBytesOf(process.constrainedMemory(), totalmem());
}

/** `constrained`: 0 or a huge number without a limit. Pure. */
export function memoryBytesOf(constrained: number, total: number): number {
  return constrained > 0 ? Math.min(constrained, total) : total;
}
