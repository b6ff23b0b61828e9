/** The reaper's own program: see reaper.ts. */
import { createInterface } from "node:readline";
import { endRecorded, type ProcessRecord } from "./process-record.ts";

const watched: ProcessRecord[] = [];
let released = false;

// Ctrl-C in the terminal and the like are for the program that is watched over, not for us.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const order: { readonly watch?: ProcessRecord; readonly release?: boolean } = JSON.parse(line);
  if (order.watch !== undefined) watched.push(order.watch);
  if (order.release === true) released = true;
}

if (!released) await endRecorded(watched, { graceMs: 3_000 });
