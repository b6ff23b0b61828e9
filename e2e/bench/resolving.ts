/** What a large index costs the hub: while it is read, and when it has not changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { runHelm } from "@flotilla/local/registries";
import { apiVersion, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { type LargeRepository, startLargeRepository } from "./large-index.ts";
import { type BenchFleet, memoryMb, timed, untilCount } from "./measure/bench-fleet.ts";
import { type Figure, median } from "./measure/figures.ts";
import { hubMetric } from "./measure/hub-metric.ts";

const rounds = 5;
const eventLoopLag = "nodejs_eventloop_lag_p99_seconds";
const polls = 10;
const pollingMs = 1_000;

export async function resolving(bench: BenchFleet): Promise<readonly Figure[]> {
  const repository = await startLargeRepository();
  try {
    return [...(await firstResolution(bench, repository)), ...(await unchanged(bench, repository))];
  } finally {
    await repository.close();
  }
}

async function firstResolution(
  bench: BenchFleet,
  repository: LargeRepository,
): Promise<readonly Figure[]> {
  const hub = bench.fleet.hubProcess().identity.pid;
  const idleMb = await memoryMb(hub);
  const ours: number[] = [];
  const helms: number[] = [];
  // The histogram of the lag is emptied when it is read.
  await hubMetric(bench, eventLoopLag);
  for (let round = 0; round < rounds; round++)
    ours.push(await timed(() => resolved(bench, repository, `resolve-${round}`)));
  const lag = await hubMetric(bench, eventLoopLag);
  const usedMb = (await memoryMb(hub)) - idleMb;
  await sleep(ours.reduce((sum, ms) => sum + ms, 0));
  const idleLag = await hubMetric(bench, eventLoopLag);
  for (let round = 0; round < rounds; round++)
    helms.push(await timed(() => shownByHelm(bench, repository)));

  const size = `${(repository.indexBytes / 1e6).toFixed(1)} MB`;
  const helm = median(helms);
  return [
    {
      what: `one HelmOp from an index of ${size}, created to resolved`,
      unit: "ms",
      value: median(ours),
      baseline: { what: "helm show chart --repo", value: helm },
      bar: 2 * helm,
    },
    {
      what: `the hub's event loop lag while it reads ${rounds} of them, 99th percentile`,
      unit: "ms",
      value: lag * 1000,
      baseline: { what: "the idle hub in the same time", value: idleLag * 1000 },
      bar: 50,
      detail: "the clock that measures it ticks every 10 ms, which are part of it",
    },
    {
      what: `memory of the hub after ${rounds} such indexes, above the idle hub`,
      unit: "MB",
      value: usedMb,
      bar: 150,
    },
  ];
}

async function unchanged(
  bench: BenchFleet,
  repository: LargeRepository,
): Promise<readonly Figure[]> {
  const name = "unchanged";
  const ref = { namespace: workspaceNamespace, name };
  const suspend = (isSuspended: boolean) =>
    bench.fleet.hub.patch(helmOps, ref, {
      type: "merge",
      body: { spec: { suspend: isSuspended } },
    });
  await resolved(bench, repository, name, `${pollingMs / 1_000}s`);
  const polled: number[] = [];
  const idle: number[] = [];
  let [conditional, whole, intervals] = [0, 0, 0];
  // In turns: a collection of what was read earlier falls into one round, and not into the middle of them.
  for (let round = 0; round < rounds; round++) {
    await suspend(false);
    // The first comes at once, the second at the repository's moment, and then they are a second apart.
    await repository.untilUnchanged(2);
    // From this request to the last one: as many intervals as requests after it, if there is one in each.
    const before = repository.counts();
    let took = 0;
    const cpu = await cpuSeconds(bench, async () => {
      took = await timed(() => repository.untilUnchanged(polls));
    });
    const after = repository.counts();
    conditional += after.unchanged - before.unchanged;
    whole += after.sent - before.sent;
    intervals += Math.round((after.lastAtMs - before.lastAtMs) / pollingMs);
    await suspend(true);
    const idleCpu = await cpuSeconds(bench, () => sleep(took));
    polled.push(((cpu - idleCpu) * 1000) / polls);
    idle.push((idleCpu * 1000) / polls);
  }
  return [
    {
      what: "requests for a poll of an index that did not change",
      unit: "requests",
      value: (conditional + whole) / intervals,
      bar: 1,
      detail: `in ${intervals} intervals of a second: ${conditional} conditional, ${whole} with the whole index`,
    },
    {
      what: "the hub's CPU for such a poll, its status written",
      unit: "ms",
      value: median(polled),
      baseline: { what: "the same time without polls", value: median(idle) },
      bar: 5,
      detail: `in ${rounds} rounds of ${polls} polls: ${polled.map((ms) => ms.toFixed(1)).join(", ")}`,
    },
  ];
}

/** A HelmOp that goes nowhere, so that nothing but resolving is measured. */
async function resolved(
  bench: BenchFleet,
  { fresh, chart, newest }: LargeRepository,
  name: string,
  pollingInterval?: string,
): Promise<void> {
  const done = untilCount(
    bench.helmOps,
    1,
    ({ metadata, status }) => metadata.name === name && status?.version === newest,
  );
  await bench.fleet.hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name },
    spec: {
      helm: { repo: fresh(), chart, version: "1.x" },
      namespace: name,
      targets: [{ clusterName: "nowhere" }],
      ...(pollingInterval !== undefined && { pollingInterval }),
    },
  });
  await done;
}

async function shownByHelm(
  { fleet }: BenchFleet,
  { fresh, chart }: LargeRepository,
): Promise<void> {
  await runHelm(["show", "chart", chart, "--repo", fresh(), "--version", "1.x"], {
    helm: fleet.helm,
    home: fleet.dir,
  });
}

async function cpuSeconds(bench: BenchFleet, work: () => Promise<unknown>): Promise<number> {
  const before = await hubMetric(bench, "process_cpu_seconds_total");
  await work();
  return (await hubMetric(bench, "process_cpu_seconds_total")) - before;
}
