/** What a fleet costs its hub's API server and its machines. */
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchFleet, memoryMb, oneCluster } from "./measure/bench-fleet.ts";
import type { Figure } from "./measure/figures.ts";
import { requestCounts, since } from "./measure/request-counts.ts";

/** A status may be written up to a second after its cause. */
const settleMs = 1_500;
const idleMs = 60_000;

export async function memory(bench: BenchFleet): Promise<readonly Figure[]> {
  return [
    {
      what: "memory of the idle hub",
      unit: "MB",
      value: await memoryMb(bench.fleet.hubProcess().identity.pid),
      bar: 90,
    },
    {
      what: "memory of the idle agent",
      unit: "MB",
      value: await memoryMb(bench.cluster.agent().identity.pid),
      bar: 80,
    },
  ];
}

export async function writesForOne(bench: BenchFleet): Promise<readonly Figure[]> {
  // What was installed before this has writes that are still due.
  await sleep(settleMs);
  const before = await requestCounts(bench);
  await bench.createHelmOp("writes", "deployment", oneCluster);
  await bench.ready("writes");
  await sleep(settleMs);
  const written = since(before, await requestCounts(bench)).filter(([what]) =>
    /^(POST|PUT|PATCH|APPLY|DELETE)/.test(what),
  );
  return [
    {
      what: "writes for one HelmOp on one cluster, created to Ready",
      unit: "writes",
      value: written.reduce((sum, [, count]) => sum + count, 0),
      bar: 10,
      detail: written.map(([what, count]) => `${what}: ${count}`).join(", "),
    },
  ];
}

export async function idleRequests(bench: BenchFleet): Promise<readonly Figure[]> {
  const before = await requestCounts(bench);
  await sleep(idleMs);
  const made = since(before, await requestCounts(bench));
  return [
    {
      what: "requests to the hub's API server by an idle fleet, Leases and the control plane's own apart",
      unit: "requests/min",
      value: made
        .filter(([what]) => what.includes("fleet.cattle.io"))
        .reduce((sum, [, count]) => sum + count, 0),
      bar: 30,
      detail: made.map(([what, count]) => `${what}: ${count}`).join(", "),
    },
  ];
}
