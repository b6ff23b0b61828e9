/**
 * What users of the last version without stages have, beside this version: the same HelmOps without a strategy in two fleets, in turn,
 * so that other work on the machine disturbs both alike.
 */
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { earlierVersion } from "../src/upgrade/earlier-version.ts";
import { many as clusters, createClusters } from "./fan-out.ts";
import {
  type BenchChart,
  type BenchFleet,
  oneCluster,
  startBenchFleet,
  timed,
  untilCount,
} from "./measure/bench-fleet.ts";
import { endOfHub } from "./measure/end-of-hub.ts";
import { type Figure, median } from "./measure/figures.ts";

/** It accepts `rolloutStrategy` and ignores it. */
const version = "0.2.0";
const many = 50;

/** What runs in both fleets; `round` keeps names apart. */
interface Compared {
  readonly what: string;
  readonly rounds: number;
  run(bench: BenchFleet, round: number): Promise<unknown>;
}

const compared: readonly Compared[] = [
  one("config"),
  one("deployment"),
  {
    what: `${many} HelmOps without a strategy created at once to Ready`,
    rounds: 5,
    async run(bench, round) {
      const names = Array.from({ length: many }, (_, index) => `many-${round}-${index}`);
      await Promise.all(names.map((name) => bench.createHelmOp(name, "config", oneCluster)));
      await bench.ready(...names);
    },
  },
  {
    what: `1 HelmOp without a strategy to ${clusters} clusters until all BundleDeployments are there`,
    rounds: 5,
    async run(bench, round) {
      const name = `to-many-${round}`;
      const selected = { clusterSelector: { matchLabels: { bench: "round-0" } } };
      await bench.createHelmOp(name, "config", [selected]);
      await untilCount(bench.deployments, clusters, ({ metadata }) => metadata.name === name);
    },
  },
];

/** Each round in both fleets; which of them begins alternates. */
export async function besideEarlierVersion(): Promise<readonly Figure[]> {
  const { entryFiles } = await earlierVersion(version);
  const earlier = await startBenchFleet({ entryFiles });
  try {
    // From its sources, too.
    const current = await startBenchFleet({});
    try {
      return await Promise.race([
        compareAll({ earlier, current }),
        endOfHub(earlier),
        endOfHub(current),
      ]);
    } finally {
      await current.close();
    }
  } finally {
    await earlier.close();
  }
}

interface Fleets {
  readonly earlier: BenchFleet;
  readonly current: BenchFleet;
}

async function compareAll(fleets: Fleets): Promise<readonly Figure[]> {
  await Promise.all([addTargets(fleets.earlier), addTargets(fleets.current)]);
  const figures: Figure[] = [];
  for (const each of compared) figures.push(await compare(each, fleets));
  return figures;
}

function one(chart: BenchChart): Compared {
  return {
    what: `one HelmOp without a strategy created to Ready, ${chart} chart`,
    rounds: 20,
    async run(bench, round) {
      const name = `one-${chart}-${round}`;
      await bench.createHelmOp(name, chart, oneCluster);
      await bench.ready(name);
    },
  };
}

async function addTargets(bench: BenchFleet): Promise<void> {
  await createClusters(bench, workspaceNamespace, 0);
  await untilCount(
    bench.clusters,
    clusters,
    ({ metadata, status }) =>
      metadata.labels?.["bench"] !== undefined && status?.namespace !== undefined,
  );
}

async function compare(
  { what, rounds, run }: Compared,
  { earlier, current }: Fleets,
): Promise<Figure> {
  const ms = { earlier: [] as number[], current: [] as number[] };
  // The first round is not counted: caches fill.
  for (let round = 0; round <= rounds; round += 1) {
    const both = [
      { bench: earlier, times: ms.earlier },
      { bench: current, times: ms.current },
    ];
    for (const { bench, times } of round % 2 === 0 ? both : both.toReversed()) {
      const time = await timed(() => run(bench, round));
      if (round > 0) times.push(time);
    }
  }
  return {
    what,
    unit: "ms",
    value: median(ms.current),
    baseline: { what: `version ${version}, in turn`, value: median(ms.earlier) },
    bar: noiseBar(ms.earlier),
    detail: `${times(ms.current)}; version ${version}: ${times(ms.earlier)}`,
  };
}

/** What is within noise: a tenth above the median of the baseline, or its upper quartile where its own times differ more than that. */
function noiseBar(baseline: readonly number[]): number {
  const sorted = baseline.toSorted((a, b) => a - b);
  const upperQuartile = sorted[Math.floor(0.75 * sorted.length)] ?? Number.NaN;
  return Math.max(1.1 * median(baseline), upperQuartile);
}

function times(all: readonly number[]): string {
  return `${all.map((ms) => ms.toFixed(0)).join(", ")} ms`;
}
