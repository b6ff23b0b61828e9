/** How long healthy HelmOps take beside charts that are made to end or to slow the agent. */
import { readFile } from "node:fs/promises";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { hostileCharts } from "../src/agent/hostile-charts.ts";
import { type BenchFleet, oneCluster, timed, untilNone } from "./measure/bench-fleet.ts";
import type { Figure } from "./measure/figures.ts";

const healthy = 20;

export async function besideHostileCharts(bench: BenchFleet): Promise<readonly Figure[]> {
  const hostile = (await hostileCharts()).map(([chart]) => chart);
  bench.publish(...hostile);
  const installHealthy = async (round: string): Promise<void> => {
    const names = Array.from({ length: healthy }, (_, index) => `${round}-${index}`);
    await Promise.all(names.map((name) => bench.createHelmOp(name, "config", oneCluster)));
    await bench.ready(...names);
  };
  // Not counted: caches fill.
  await installHealthy("first");
  const before = await timed(() => installHealthy("before"));
  const value = await timed(async () => {
    await Promise.all(hostile.map(({ name }) => bench.createHelmOp(name, name, oneCluster)));
    await installHealthy("beside");
  });
  for (const { name } of hostile)
    await bench.fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name });
  const left = new Set(hostile.map(({ name }) => name));
  await untilNone(bench.helmOps, ({ metadata }) => left.has(metadata.name));
  // Both, because two cores that others use too are not always as fast.
  const after = await timed(() => installHealthy("after"));
  const alone = (before + after) / 2;
  return [
    {
      what: `${healthy} HelmOps to Ready beside ${hostile.length} hostile charts`,
      unit: "ms",
      value,
      baseline: { what: "without them, before and after", value: alone },
      bar: 1.25 * alone,
      ...((await hasAutogroups()) && {
        detail:
          "this machine shares its processors between sessions (sched_autogroup_enabled is 1), which containers do not: the agent's priorities had no effect",
      }),
    },
  ];
}

/** See sched(7). */
async function hasAutogroups(): Promise<boolean> {
  const setting = await readFile("/proc/sys/kernel/sched_autogroup_enabled", "utf8").catch(
    () => "0",
  );
  return setting.trim() === "1";
}
