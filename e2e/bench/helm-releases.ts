/** How long HelmReleases take until they are Ready, and what they write, beside HelmOps of the same chart in the same run. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type BenchChart,
  type BenchFleet,
  inParallel,
  oneCluster,
  timed,
  untilReady,
} from "./measure/bench-fleet.ts";
import { type Figure, median } from "./measure/figures.ts";
import { createHelmRelease, createSource, type Source } from "./measure/flux-objects.ts";
import { requestCounts, since } from "./measure/request-counts.ts";

const rounds = 10;
const many = 50;
const manyRounds = 3;

/** The bar: the HelmOp's time and this much. */
const allowanceMs = 50;

/** Measured with Flux 2.9, on a machine where Helm took `manyHelmMs` for as many releases as Flux `manyMs`. */
const flux = { oneMs: 1_700, manyMs: 5_100, manyHelmMs: 3_100 };

/** With so many runs at a time Helm is the fastest on two cores. */
const helmAtATime = 4;

/** A status may be written up to a second after its cause. */
const settleMs = 1_500;

const source: Source = { kind: "HelmRepository", name: "bench" };

interface Installing {
  /** Creates it and resolves once it is Ready. */
  helmOps(names: readonly string[], chart: BenchChart): Promise<void>;
  helmReleases(names: readonly string[], chart: BenchChart): Promise<void>;
}

type Kind = keyof Installing;

/** In each round the other one is the first: what slows the machine slows both. */
function alternating(round: number): readonly Kind[] {
  return round % 2 === 0 ? ["helmOps", "helmReleases"] : ["helmReleases", "helmOps"];
}

async function installing(bench: BenchFleet): Promise<Installing> {
  const { hub } = bench.fleet;
  await createSource(hub, source, { url: bench.repositoryUrl, interval: "1h" });
  return {
    async helmOps(names, chart) {
      await Promise.all(names.map((name) => bench.createHelmOp(name, chart, oneCluster)));
      await bench.ready(...names);
    },
    async helmReleases(names, chart) {
      const spec = { source, chart, version: "1.0.0", clusterName: bench.cluster.name };
      await Promise.all(names.map((name) => createHelmRelease(hub, name, spec)));
      await untilReady(bench.helmReleases, names);
    },
  };
}

/** One at a time, many at once, and the writes of one. */
export async function helmReleaseInstalls(bench: BenchFleet): Promise<readonly Figure[]> {
  const install = await installing(bench);
  return [
    ...(await oneAtATime(install)),
    await manyAtOnce(bench, install),
    ...(await writesForOne(bench, install)),
  ];
}

async function oneAtATime(install: Installing): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const chart of ["config", "deployment"] as const satisfies readonly BenchChart[]) {
    const times: Record<Kind, number[]> = { helmOps: [], helmReleases: [] };
    // The first of each is not counted: caches fill.
    for (let round = 0; round <= rounds; round += 1)
      for (const kind of alternating(round)) {
        const name = `${kind.toLowerCase()}-one-${chart}-${round}`;
        const ms = await timed(() => install[kind]([name], chart));
        if (round > 0) times[kind].push(ms);
      }
    const baseline = median(times.helmOps);
    figures.push({
      what: `one HelmRelease created to Ready, ${chart} chart`,
      unit: "ms",
      value: median(times.helmReleases),
      baseline: { what: "the same HelmOp", value: baseline },
      bar: baseline + allowanceMs,
      detail: `HelmReleases ${listed(times.helmReleases)}; HelmOps ${listed(times.helmOps)}; Flux ${flux.oneMs}`,
    });
  }
  return figures;
}

async function manyAtOnce(bench: BenchFleet, install: Installing): Promise<Figure> {
  const times: Record<Kind, number[]> = { helmOps: [], helmReleases: [] };
  const helm: number[] = [];
  for (let round = 0; round < manyRounds; round += 1) {
    for (const kind of alternating(round)) {
      const names = Array.from(
        { length: many },
        (_, index) => `${kind.toLowerCase()}-many-${round}-${index}`,
      );
      times[kind].push(await timed(() => install[kind](names, "config")));
    }
    helm.push(
      await timed(() =>
        inParallel(many, helmAtATime, (index) =>
          bench.bareHelm(`helm-many-${round}-${index}`, "config"),
        ),
      ),
    );
  }
  const baseline = median(helm);
  return {
    what: `${many} HelmReleases created at once to Ready`,
    unit: "ms",
    value: median(times.helmReleases),
    baseline: { what: `${many} helm runs, ${helmAtATime} at a time`, value: baseline },
    // What Flux would take here.
    bar: (baseline * flux.manyMs) / flux.manyHelmMs,
    detail: `HelmReleases ${listed(times.helmReleases)}; HelmOps ${listed(times.helmOps)}; Helm ${listed(helm)}`,
  };
}

/** To the hub's API server. */
async function writesForOne(bench: BenchFleet, install: Installing): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const written = async (kind: Kind) => {
    const before = await requestCounts(bench);
    await install[kind]([`${kind.toLowerCase()}-writes`], "deployment");
    await sleep(settleMs);
    return since(before, await requestCounts(bench)).filter(([what]) =>
      /^(POST|PUT|PATCH|APPLY|DELETE)/.test(what),
    );
  };
  const total = (counts: readonly (readonly [string, number])[]): number =>
    counts.reduce((sum, [, count]) => sum + count, 0);
  const ops = total(await written("helmOps"));
  const releases = await written("helmReleases");
  figures.push({
    what: "writes for one HelmRelease on one cluster, created to Ready",
    unit: "writes",
    value: total(releases),
    baseline: { what: "the same HelmOp", value: ops },
    // The HelmChart and its status besides.
    bar: ops + 2,
    detail: releases.map(([what, count]) => `${what}: ${count}`).join(", "),
  });
  return figures;
}

function listed(times: readonly number[]): string {
  return times.map((ms) => ms.toFixed(0)).join(", ");
}
