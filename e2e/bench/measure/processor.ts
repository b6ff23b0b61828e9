/** What a process has used of the processors. */
import { readdir, readFile } from "node:fs/promises";

/** The unit of the times in /proc. */
const ticksPerSecond = 100;

/** Since its start, its ended children included. */
export async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name may have spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = [11, 12, 13, 14].map((index) => Number(fields[index]));
  return (ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond) * 1_000;
}

/** The number of processes that a process has started and that run. */
export async function childrenOf(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")),
  );
  return lists
    .join(" ")
    .split(" ")
    .filter((child) => child !== "").length;
}
