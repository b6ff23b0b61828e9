/** Who goes before whom on the cores, where what is measured on one machine runs on several otherwise. */
import { writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";

/** Lowers the priority of a process, as if it ran on another machine: thousands of agents beside their hub. */
export function giveWay(pid: number): void {
  setPriority(pid, constants.priority.PRIORITY_LOW);
}

/** Others on the cores delay a process as well, which is not what is measured. Without the right to, everything counts. */
export async function goFirst(pid: number): Promise<void> {
  const highest = constants.priority.PRIORITY_HIGHEST;
  try {
    setPriority(pid, highest);
    // Where Linux shares the cores between sessions, a priority counts within its session alone.
    await writeFile(`/proc/${pid}/autogroup`, String(highest));
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (!["ERR_SYSTEM_ERROR", "ENOENT", "EPERM", "EACCES"].includes(String(code))) throw thrown;
  }
}
