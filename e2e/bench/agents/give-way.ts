/** Thousands of agents share a machine with their hub only here. */
import { constants, setPriority } from "node:os";

/** Lowers the priority of a process, as if it ran on another machine. */
export function giveWay(pid: number): void {
  setPriority(pid, constants.priority.PRIORITY_LOW);
}
