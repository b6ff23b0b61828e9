/** How the costs of a fleet grow with its clusters, and what larger ones than fit here would need. */
import { writeFile } from "node:fs/promises";
import type { Figure } from "../measure/figures.ts";
import { type EngineFigures, measuredEngine } from "../rollouts/memory/engine.ts";
import { processNames } from "../rollouts/processes.ts";
import { type Costs, costsOf, needOf } from "./capacity.ts";
import { growthPower } from "./fit.ts";
import { type OneSize, oneSize } from "./one-size.ts";
import { drawGrowth } from "./plot.ts";
import { type TwoReplicas, twoReplicas } from "./two-replicas.ts";

export interface GrowthOptions {
  /** Numbers of clusters, from few to many. */
  readonly sizes: readonly number[];
  /** The file for the plot; absent: none. */
  readonly plotFile?: string;
  readonly report: (figures: readonly Figure[]) => void;
}

/** For the fleet with several apps, and the one with two replicas: the largest measured size up to this one. */
const mostDivided = 1_000;
const apps = 11;
const engineSizes = [10, 1_000, 10_000, 50_000] as const;
const planned = [10_000, 50_000, 100_000] as const;
const plannedFleet = { apps: 20, replicas: 3, apiServerProcessors: 8 } as const;
/** The exponent: in proportion, and what noise adds to it. */
const barPower = 1.15;
/** Below this number, what a change costs is mostly what it costs once. */
const fitFrom = 100;

/** Calls `report` with figures as soon as they are measured. */
export async function growth({ sizes, plotFile, report }: GrowthOptions): Promise<void> {
  const measured: OneSize[] = [];
  for (const clusters of sizes) {
    const size = await oneSize(clusters, 1);
    measured.push(size);
    report(sizeFigures(size));
  }
  report(powerFigures(measured.filter(({ clusters }) => clusters >= fitFrom)));
  if (plotFile !== undefined) await writeFile(plotFile, drawGrowth(measured));
  const divided = sizes.filter((clusters) => clusters <= mostDivided).at(-1);
  if (divided !== undefined && measured.length > 1) {
    const withApps = await oneSize(divided, apps);
    const replicas = await twoReplicas(divided);
    report(capacityFigures(costsOf(measured, withApps, replicas), replicas));
  }
  report(await engineGrowth());
}

/** The rollout engine without a network and without agents, up to fleets that no machine holds. */
async function engineGrowth(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  let few: EngineFigures | undefined;
  for (const clusters of engineSizes) {
    const engine = await measuredEngine({ clusters, targets: 5, stages: 4 });
    few ??= engine;
    const baseline = (value: number) => ({ what: `of ${engineSizes[0]}`, value });
    figures.push(
      {
        what: `one report of ${clusters} clusters in memory to the next promotion, processor`,
        unit: "ms",
        value: engine.reportCpuMs,
        baseline: baseline(few.reportCpuMs),
      },
      {
        what: `a reconcile that evaluates ${clusters} clusters in memory`,
        unit: "ms",
        value: engine.fullMs,
        baseline: baseline(few.fullMs),
        detail: `the longest that the event loop was held meanwhile: ${engine.lagMaxMs.toFixed(0)} ms; the BundleRollout has ${engine.rolloutBytes} bytes`,
      },
    );
  }
  return figures;
}

function sizeFigures({
  clusters,
  all,
  staged,
  bareMs,
  bareProcessorMs,
  memory,
}: OneSize): readonly Figure[] {
  const change = `a change of ${clusters} clusters`;
  return [
    {
      what: `${change} all at once, until all are ready`,
      unit: "ms",
      value: all.ms,
      baseline: { what: "its writes alone", value: bareMs },
      detail: `${(all.ms / bareMs).toFixed(1)} times the writes alone`,
    },
    {
      what: `${change} in four stages, until all are ready`,
      unit: "ms",
      value: staged.ms,
      baseline: { what: "all at once", value: all.ms },
    },
    ...processNames.map(
      (name): Figure => ({
        what: `${name}: processor of ${change} in four stages`,
        unit: "ms",
        value: staged.processor[name],
        baseline:
          name === "API server"
            ? { what: "the writes alone", value: bareProcessorMs }
            : { what: "all at once", value: all.processor[name] },
        detail: `memory: ${memory[name].toFixed(0)} MB`,
      }),
    ),
  ];
}

/** Whether anything grows faster than the number of clusters. */
function powerFigures(sizes: readonly OneSize[]): readonly Figure[] {
  if (sizes.length < 2) return [];
  const power = (what: string, read: (size: OneSize) => number): Figure => ({
    what: `${what} grows with the number of clusters to the power of`,
    unit: "x",
    value: growthPower(sizes.map((size) => [size.clusters, read(size)])),
    bar: barPower,
  });
  return [
    power("the time of a change all at once", ({ all }) => all.ms),
    power("the time of a change in four stages", ({ staged }) => staged.ms),
    power("the hub's processor for it", ({ staged }) => staged.processor.hub),
    power("the API server's processor for it", ({ staged }) => staged.processor["API server"]),
    power("the hub's memory", ({ memory }) => memory.hub),
    power("what is stored", ({ storedBytes }) => storedBytes.now),
  ];
}

function capacityFigures(costs: Costs, { clusters, all, staged }: TwoReplicas): readonly Figure[] {
  const ms = (what: string, value: number, other: number): Figure => ({
    ...{ what, unit: "ms", value: value / clusters },
    baseline: { what: "in four stages", value: other / clusters },
  });
  const kib = (what: string, value: number): Figure => ({ what, unit: "KiB", value });
  return [
    ms(
      "two replicas, processor of the leader for one cluster of a change",
      all.leader,
      staged.leader,
    ),
    ms("the same of the replica that has the agents", all.holder, staged.holder),
    kib("memory of each replica for one more cluster with one app", costs.hubCacheKib),
    kib("memory of the replica that has its agent, beside that", costs.connectionKib),
    kib("memory of each replica for one more app on a cluster", costs.hubAppKib),
    kib("memory of the API server for one more cluster with one app", costs.apiServerKib),
    kib("memory of the API server for one more app on a cluster", costs.apiServerAppKib),
    ...planned.flatMap((size) => plannedFigures(costs, size)),
  ];
}

function plannedFigures(costs: Costs, clusters: number): readonly Figure[] {
  const { apps: planApps, replicas, apiServerProcessors } = plannedFleet;
  const need = needOf(costs, { clusters, ...plannedFleet });
  const fleet = `${clusters} clusters with ${planApps} apps`;
  return [
    {
      what: `${fleet}, ${replicas} replicas: memory of the leader`,
      unit: "MB",
      value: need.hubMb,
      detail: `API server: ${need.apiServerMb.toFixed(0)} MB; stored: ${need.storedMb.toFixed(0)} MB`,
    },
    {
      what: `${fleet}, ${replicas} replicas: a change of one app for all takes the leader at least`,
      unit: "ms",
      value: need.leaderSeconds * 1_000,
      detail: `API server with ${apiServerProcessors} processors: ${need.apiServerSeconds.toFixed(0)} s; etcd: ${need.etcdSeconds.toFixed(0)} s`,
    },
  ];
}
