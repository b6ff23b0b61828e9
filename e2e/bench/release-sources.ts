/**
 * What a thousand HelmReleases cost that have one source: its server, the hub's memory and its API server. They are those of a
 * simulated agent, which installs nothing. Beside them as many HelmOps of one repository.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startSimulation } from "./agents/simulation.ts";
import { type BenchFleet, inParallel, memoryMb, timed, untilCount } from "./measure/bench-fleet.ts";
import type { Figure } from "./measure/figures.ts";
import { heapText } from "./measure/hub-heap.ts";
import { requestCounts, since } from "./measure/request-counts.ts";
import {
  helmOpsOfRepository,
  type Kind,
  releasesOfGitRepository,
  releasesOfHelmRepository,
} from "./measure/source-kinds.ts";

const atATime = 16;
const intervalMs = 15_000;
const interval = "15s";
const rounds = 3;
const idleMs = 60_000;

/** Until what a start, a creation or a deletion leaves behind is written. */
const settleMs = 5_000;

const options = { clusterName: "sources-1", interval };

/** `many`: of each kind. */
export async function manyOnOneSource(bench: BenchFleet, many: number): Promise<readonly Figure[]> {
  const { fleet } = bench;
  const simulation = await startSimulation({
    kubeconfig: fleet.hubPlane.kubeconfig,
    ...{ name: "sources", agents: 1, bundles: 0, latency: "20ms", keep: false },
    logFile: join(fleet.dir, "logs", "sources.log"),
    environment: { HOME: fleet.dir, PATH: process.env["PATH"] ?? "" },
  });
  try {
    await startHubAgain(bench);
    const idle = await idleRequests(bench);
    const ops = await measure(bench, await helmOpsOfRepository(bench, options), many);
    const figures: Figure[] = [];
    for (const start of [releasesOfHelmRepository, releasesOfGitRepository]) {
      const kind = await start(bench, options);
      figures.push(...figuresOf(kind, many, await measure(bench, kind, many), { ops, idle }));
    }
    return figures;
  } finally {
    await simulation.end();
  }
}

interface Measured {
  readonly createdMs: number;
  readonly writes: number;
  readonly writtenDetail: string;
  /** In each interval. */
  readonly reads: readonly number[];
  /** Above the idle hub. */
  readonly memoryMb: number;
  readonly heap: string;
  readonly idle: IdleRequests;
  /** A new version, until all have it. */
  readonly changedMs: number;
  readonly changeReads: number;
  readonly changeWrites: number;
}

interface IdleRequests {
  readonly perMinute: number;
  readonly detail: string;
}

async function measure(bench: BenchFleet, kind: Kind, many: number): Promise<Measured> {
  const nameOf = (index: number): string => `${kind.name}-${index}`;
  await startHubAgain(bench);
  const hub = bench.fleet.hubProcess().identity.pid;
  const idleMb = await memoryMb(hub);
  await kind.publish("1.0.0");
  try {
    let before = await requestCounts(bench);
    const createdMs = await timed(async () => {
      await inParallel(many, atATime, (index) => kind.create(nameOf(index)));
      await kind.ready(many, "1.0.0");
    });
    await sleep(settleMs);
    const written = writesSince(before, await requestCounts(bench));
    const reads: number[] = [];
    let peakMb = 0;
    for (let round = 0; round < rounds; round += 1) {
      const readsBefore = kind.reads();
      await sleep(intervalMs);
      reads.push(kind.reads() - readsBefore);
      peakMb = Math.max(peakMb, await memoryMb(hub));
    }
    const idle = await idleRequests(bench);
    before = await requestCounts(bench);
    const readsBefore = kind.reads();
    await kind.publish("1.1.0");
    const changedMs = await timed(() => kind.ready(many, "1.1.0"));
    const changeReads = kind.reads() - readsBefore;
    await sleep(settleMs);
    const changed = writesSince(before, await requestCounts(bench));
    return {
      createdMs,
      writes: total(written) / many,
      writtenDetail: written
        .map(([what, count]) => `${what}: ${(count / many).toFixed(2)}`)
        .join(", "),
      reads,
      memoryMb: peakMb - idleMb,
      heap: await heapText(bench),
      idle,
      changedMs,
      changeReads,
      changeWrites: total(changed) / many,
    };
  } finally {
    await inParallel(many, atATime, (index) => kind.delete(nameOf(index)));
    await kind.gone();
    await kind.close();
  }
}

function figuresOf(
  { what }: Kind,
  many: number,
  found: Measured,
  { ops, idle }: { readonly ops: Measured; readonly idle: IdleRequests },
): readonly Figure[] {
  const ofHelmOps = `${many} HelmOps of one repository`;
  return [
    {
      what: `requests to one ${what} by ${many} HelmReleases, in each interval`,
      unit: "requests",
      value: Math.max(...found.reads),
      bar: 1,
      detail: `in ${rounds} intervals of ${interval}: ${found.reads.join(", ")}`,
    },
    {
      what: `reads of the ${what} for a new version, until all have it`,
      unit: "requests",
      value: found.changeReads,
      // One in each interval until the last has it, and one for the files of the commit.
      bar: 2 + Math.ceil(found.changedMs / intervalMs),
      detail: `after ${(found.changedMs / 1_000).toFixed(1)} s (HelmOps: ${(ops.changedMs / 1_000).toFixed(1)} s), with ${found.changeWrites.toFixed(2)} writes for each (HelmOps: ${ops.changeWrites.toFixed(2)})`,
    },
    {
      what: `memory of the hub with ${many} HelmReleases of one ${what}, above idle`,
      unit: "MB",
      value: found.memoryMb,
      baseline: { what: ofHelmOps, value: ops.memoryMb },
      // A HelmRelease has a HelmChart besides.
      bar: ops.memoryMb * 1.25,
      detail: found.heap,
    },
    {
      what: `requests to the hub's API server by a hub with ${many} HelmReleases of one ${what}`,
      unit: "requests/min",
      value: found.idle.perMinute,
      baseline: { what: "without them", value: idle.perMinute },
      // The status of the source in each interval; and a minute has one interval more or less.
      bar: idle.perMinute + 60_000 / intervalMs + 2,
      detail: `${found.idle.detail}; ${ofHelmOps}: ${ops.idle.perMinute.toFixed(1)}`,
    },
    {
      what: `writes for each of ${many} HelmReleases of one ${what}, created to Ready`,
      unit: "writes",
      value: found.writes,
      baseline: { what: ofHelmOps, value: ops.writes },
      detail: `${found.writtenDetail}; after ${(found.createdMs / 1_000).toFixed(1)} s (HelmOps: ${(ops.createdMs / 1_000).toFixed(1)} s)`,
    },
  ];
}

/** A new process, whose memory is not that of the measurement before. */
async function startHubAgain({ fleet, clusters }: BenchFleet): Promise<void> {
  await fleet.stopHub();
  await fleet.startHub();
  await untilCount(
    clusters,
    1,
    ({ metadata, status }) =>
      metadata.name === options.clusterName && status?.agent?.connected === true,
  );
  await sleep(settleMs);
}

/** Requests about the hub's own kinds and of Flux's. Watches that are restarted after their timeout are not counted. */
async function idleRequests(bench: BenchFleet): Promise<IdleRequests> {
  const before = await requestCounts(bench);
  await sleep(idleMs);
  const made = since(before, await requestCounts(bench)).filter(
    ([what]) => /fleet\.cattle\.io|toolkit\.fluxcd\.io/.test(what) && !what.startsWith("WATCH"),
  );
  return {
    perMinute: (total(made) * 60_000) / idleMs,
    detail: made.map(([what, count]) => `${what}: ${count}`).join(", ") || "none",
  };
}

type Counts = ReadonlyMap<string, number>;

function writesSince(before: Counts, after: Counts): readonly (readonly [string, number])[] {
  return since(before, after).filter(([what]) => /^(POST|PUT|PATCH|APPLY|DELETE)/.test(what));
}

function total(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((sum, [, count]) => sum + count, 0);
}
