/** Thousands of agents share a machine with their hub only here. */
import { constants, setPriority } from "node:os";

/** Has a process leave the processors to others that want them, as if it had its own elsewhere. */
export function giveWay(pid: number): void {
  setPriority(pid, constants.priority.PRIORITY_LOW);
}
