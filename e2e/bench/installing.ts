/** How long it takes from a HelmOp to Ready, beside Helm alone. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type BenchChart,
  type BenchFleet,
  inParallel,
  memoryMb,
  oneCluster,
  timed,
} from "./measure/bench-fleet.ts";
import { type Figure, median } from "./measure/figures.ts";
import { childrenOf, processorMs } from "./measure/processor.ts";

const rounds = 10;
const many = 50;

/** The bar: Helm's own time and this much. */
const allowanceMs = 100;

/** Until Helm processes have ended and V8 has collected the garbage of the installations: it does so within 40 s, not sooner. */
const settleMs = 45_000;

const idleMs = 30_000;

export async function oneInstall(bench: BenchFleet): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const chart of ["config", "deployment"] as const satisfies readonly BenchChart[]) {
    const ours: number[] = [];
    const bare: number[] = [];
    // The first of each is not counted: caches fill.
    for (let round = 0; round <= rounds; round += 1) {
      const name = `one-${chart}-${round}`;
      const own = await timed(async () => {
        await bench.createHelmOp(name, chart, oneCluster);
        await bench.ready(name);
      });
      const helm = await timed(() => bench.bareHelm(`bare-${name}`, chart));
      if (round === 0) continue;
      ours.push(own);
      bare.push(helm);
    }
    const baseline = median(bare);
    figures.push({
      what: `one HelmOp created to Ready, ${chart} chart`,
      unit: "ms",
      value: median(ours),
      baseline: { what: "helm upgrade --install", value: baseline },
      bar: baseline + allowanceMs,
    });
  }
  return figures;
}

export async function manyInstalls(bench: BenchFleet): Promise<readonly Figure[]> {
  const bare = new Map<number, number>();
  for (const atATime of [1, 2, 4, 6, 8, 12]) {
    bare.set(
      atATime,
      await timed(() =>
        inParallel(many, atATime, (index) => bench.bareHelm(`bare-${atATime}-${index}`, "config")),
      ),
    );
  }
  const best = Math.min(...bare.values());
  const names = Array.from({ length: many }, (_, index) => `many-${index}`);
  const agent = bench.cluster.agent().identity.pid;
  const idleMb = await memoryMb(agent);
  let peakMb = 0;
  const sampling = setInterval(() => {
    void memoryMb(agent).then((mb) => {
      peakMb = Math.max(peakMb, mb);
    });
  }, 200);
  const value = await timed(async () => {
    await Promise.all(names.map((name) => bench.createHelmOp(name, "config", oneCluster)));
    await bench.ready(...names);
  });
  clearInterval(sampling);
  await sleep(settleMs);
  const inSyncMb = await memoryMb(agent);
  const usedMs = await processorMs(agent);
  await sleep(idleMs);
  const idlePercent = ((await processorMs(agent)) - usedMs) / (idleMs / 100);
  return [
    {
      what: `${many} HelmOps created at once to Ready`,
      unit: "ms",
      value,
      baseline: { what: `${many} helm runs at the best concurrency`, value: best },
      bar: 1.2 * best,
      detail: `helm runs ${[...bare].map(([atATime, ms]) => `at ${atATime}: ${ms.toFixed(0)} ms`).join(", ")}`,
    },
    {
      what: `memory of the agent and its Helm processes while ${many} install`,
      unit: "MB",
      value: peakMb,
      bar: 350,
    },
    {
      what: `memory of the agent with ${many} releases more in sync`,
      unit: "MB",
      value: inSyncMb,
      baseline: { what: "without them", value: idleMb },
      bar: idleMb + 15,
    },
    {
      what: `processor of the agent with ${many} releases in sync, of one core`,
      unit: "%",
      value: idlePercent,
      bar: 1,
      detail: `${await childrenOf(agent)} processes besides it`,
    },
  ];
}
