/** What a large index costs the hub: while it is read, and when it has not changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { runHelm } from "@flotilla/local/registries/run-helm.ts";
import { workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { apiVersion, helmOps } from "@flotilla/shared/api/resources.ts";
import { type BenchFleet, memoryMb, timed, untilCount, untilNone } from "./bench-fleet.ts";
import { type Figure, median } from "./figures.ts";
import { type LargeRepository, startLargeRepository } from "./large-index.ts";

const rounds = 5;
const eventLoopLag = "nodejs_eventloop_lag_p99_seconds";
const polls = 20;

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
  await resolved(bench, repository, "unchanged", "1s");
  await repository.untilUnchanged(1);
  const before = repository.counts();
  const cpuBefore = await hubMetric(bench, "process_cpu_seconds_total");
  const took = await timed(() => repository.untilUnchanged(polls));
  const cpu = (await hubMetric(bench, "process_cpu_seconds_total")) - cpuBefore;
  const after = repository.counts();

  await bench.fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name: "unchanged" });
  await untilNone(bench.helmOps, ({ metadata }) => metadata.name === "unchanged");
  const idleBefore = await hubMetric(bench, "process_cpu_seconds_total");
  await sleep(took);
  const idle = (await hubMetric(bench, "process_cpu_seconds_total")) - idleBefore;
  return [
    {
      what: "requests for a poll of an index that did not change",
      unit: "requests",
      value: (after.unchanged + after.sent - before.unchanged - before.sent) / polls,
      bar: 1,
      detail: `${after.unchanged - before.unchanged} conditional, ${after.sent - before.sent} with the whole index`,
    },
    {
      what: "the hub's CPU for such a poll, its status written",
      unit: "ms",
      value: ((cpu - idle) * 1000) / polls,
      baseline: { what: "the same time without polls", value: (idle * 1000) / polls },
      bar: 5,
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

async function hubMetric({ fleet }: BenchFleet, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${fleet.hubPorts.http}/metrics`);
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await answer.text())?.[1]);
}
