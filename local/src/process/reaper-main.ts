/** The program of the reaper: see reaper.ts. */
import { createInterface } from "node:readline";
import { endRecorded, type ProcessRecord } from "./process-record.ts";

const watched: ProcessRecord[] = [];
let released = false;

// Signals from the terminal are for the parent; the reaper ends after it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const message: { readonly watch?: ProcessRecord; readonly release?: boolean } = JSON.parse(line);
  if (message.watch !== undefined) watched.push(message.watch);
  if (message.release === true) released = true;
}

if (!released) await endRecorded(watched, { graceMs: 3_000 });
