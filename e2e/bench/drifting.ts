/** How soon drift is corrected, and what an agent costs that looks for drift and finds none. */
import { setTimeout as sleep } from "node:timers/promises";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { configMaps } from "@flotilla/shared/kube/objects";
import { waitForObject } from "../src/harness/wait.ts";
import { type BenchFleet, oneCluster, timed, untilNone } from "./measure/bench-fleet.ts";
import { type Figure, median } from "./measure/figures.ts";
import { processorMs } from "./measure/processor.ts";

const releases = 50;
const corrections = 10;
/** All objects are compared once after their installation, and V8 collects the garbage of both within 40 s: that is not idle yet. */
const settleMs = 45_000;
const inSyncMs = 30_000;

export async function drifting(bench: BenchFleet): Promise<readonly Figure[]> {
  const names = Array.from({ length: releases }, (_, index) => `drift-${index}`);
  const driftDetection = { mode: "enabled" } as const;
  await Promise.all(
    names.map((name) => bench.createHelmOp(name, "config", oneCluster, { driftDetection })),
  );
  await bench.ready(...names);
  await sleep(settleMs);
  const { pid } = bench.cluster.agent().identity;
  const before = await processorMs(pid);
  await sleep(inSyncMs);
  const used = ((await processorMs(pid)) - before) / inSyncMs;
  const times: number[] = [];
  for (const name of names.slice(0, corrections))
    times.push(await timed(() => untilCorrected(bench, name)));
  for (const name of names)
    await bench.fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name });
  await untilNone(bench.helmOps, ({ metadata }) => names.includes(metadata.name));
  return [
    {
      what: `processor time of an agent with ${releases} releases in sync, of one processor`,
      unit: "%",
      value: used * 100,
      bar: 1,
    },
    {
      what: "a change of an object to its correction",
      unit: "ms",
      value: median(times),
      bar: 1_000,
    },
  ];
}

async function untilCorrected({ cluster }: BenchFleet, name: string): Promise<void> {
  const ref = { namespace: name, name: `${name}-config` };
  const patch = { type: "merge", body: { data: { greeting: "changed" } } } as const;
  await cluster.client.patch(configMaps, ref, patch, { fieldManager: "somebody" });
  await waitForObject(
    cluster.client,
    configMaps,
    ref,
    "corrected",
    ({ data }) => data?.["greeting"] === "hello",
  );
}
