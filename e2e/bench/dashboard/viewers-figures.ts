/** What many viewers cost the hub of a real fleet of simulated agents whose releases change all the time. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  clusterLabel,
  clusterNamespaceLabel,
  workspaceNamespace,
} from "@flotilla/shared/api/names";
import { type Simulation, startSimulation } from "../agents/simulation.ts";
import { type BenchFleet, untilCount } from "../measure/bench-fleet.ts";
import type { Figure } from "../measure/figures.ts";
import { processorMs } from "../measure/processor.ts";
import { latenciesOf, type MadeChange } from "./latencies.ts";
import { logInAsViewer, type ViewerSession } from "./session.ts";
import { type Received, type SeenMessage, startViewers } from "./viewers.ts";

const name = "viewed";
const agents = 1_000;
const helmOps = 5;
const viewerCount = 200;
/** Each of a user of its own. The hub accepts no more logins at once from one address. */
const logins = 10;
const changesPerSecond = 50;
const windowMs = 20_000;
/** Until what an installation or a login leaves behind is done. */
const settleMs = 5_000;
/** Changes of the end of a window have arrived by then. */
const arrivalMs = 2_000;
const costBar = 20;
const latencyBarMs = 1_000;

export async function viewersFigures(bench: BenchFleet): Promise<readonly Figure[]> {
  // A replica that nobody has looked at: that it follows its caches for viewers is part of what they cost.
  await bench.fleet.stopHub();
  await bench.fleet.startHub();
  const simulation = await simulate(bench);
  try {
    return await measure(bench, simulation);
  } finally {
    await simulation.end();
  }
}

async function simulate(bench: BenchFleet): Promise<Simulation> {
  const { fleet } = bench;
  const simulation = await startSimulation({
    kubeconfig: fleet.hubPlane.kubeconfig,
    ...{ name, agents, bundles: helmOps, latency: "20ms", changes: changesPerSecond },
    // The deletion of thousands takes long.
    keep: true,
    logFile: join(fleet.dir, "logs", `${name}.log`),
    environment: { HOME: fleet.dir, PATH: process.env["PATH"] ?? "" },
  });
  await untilCount(
    bench.deployments,
    agents * helmOps,
    ({ metadata, status }) => metadata.name.startsWith(`${name}-`) && status?.release !== undefined,
  );
  await sleep(settleMs);
  return simulation;
}

async function measure(bench: BenchFleet, simulation: Simulation): Promise<readonly Figure[]> {
  const before = await window(bench);
  const sessions: ViewerSession[] = [];
  for (let login = 0; login < logins; login += 1)
    sessions.push(await logInAsViewer(bench, `viewer-${login}`));
  const viewers = await startViewers(
    Array.from({ length: viewerCount / logins }, () => sessions).flat(),
  );
  try {
    await sleep(settleMs);
    viewers.count();
    const written = watchReadiness(bench);
    const begunMs = Date.now();
    const during = await window(bench);
    const endedMs = Date.now();
    await sleep(arrivalMs);
    const received = await viewers.received();
    const writes = written.end();
    await viewers.close();
    await sleep(settleMs);
    const after = await window(bench);
    const made = (await madeChanges(simulation)).filter(
      ({ atMs }) => atMs >= begunMs && atMs < endedMs,
    );
    return figuresOf({ before, during, after, made, received, writes });
  } finally {
    await viewers.close();
  }
}

/** What the hub uses of one core, in percent. */
async function window({ fleet }: BenchFleet): Promise<number> {
  const { pid } = fleet.hubProcess().identity;
  const [cpuMs, begun] = [await processorMs(pid), performance.now()];
  await sleep(windowMs);
  return ((await processorMs(pid)) - cpuMs) / ((performance.now() - begun) / 100);
}

/** The changes as a watch of BundleDeployments delivers them: without a dashboard nobody sees them earlier. */
function watchReadiness({ deployments }: BenchFleet): { end(): readonly SeenMessage[] } {
  const seen: SeenMessage[] = [];
  const stop = deployments.onChange(({ before, after }) => {
    if (after === undefined || before?.status?.ready === after.status?.ready) return;
    const { name: app, labels = {} } = after.metadata;
    const cluster = `${labels[clusterNamespaceLabel]}/${labels[clusterLabel]}`;
    const release = { app, cluster, isReady: after.status?.ready === true };
    seen.push({ count: 1, releases: [release], arrivedMs: [Date.now()] });
  });
  return {
    end() {
      stop();
      return seen;
    },
  };
}

async function madeChanges(simulation: Simulation): Promise<readonly MadeChange[]> {
  return (await simulation.log())
    .filter(({ msg }) => msg === "readiness changed")
    .map(({ at: atMs, agent, deployment: app, isReady }) => ({
      ...{ atMs, app, isReady },
      cluster: `${workspaceNamespace}/${agent}`,
    }));
}

interface Measured {
  readonly before: number;
  readonly during: number;
  readonly after: number;
  readonly made: readonly MadeChange[];
  readonly received: Received;
  readonly writes: readonly SeenMessage[];
}

function figuresOf(measured: Measured): readonly Figure[] {
  const { before, during, after, made, received, writes } = measured;
  const { all, missing } = latenciesOf(made, received.messages, viewerCount);
  const written = latenciesOf(made, writes, 1).all;
  // A hub works faster when it has run for a while: the viewers must not profit from that.
  const alone = Math.min(before, after);
  const seconds = windowMs / 1_000;
  const perSecond = (made.length / seconds).toFixed(1);
  const changes = (received.changes / viewerCount / seconds).toFixed(0);
  const kbPerSecond = (received.bytes / viewerCount / seconds / 1_000).toFixed(0);
  return [
    {
      what: `what ${viewerCount} viewers cost the hub with ${agents} clusters and ${helmOps} HelmOps while ${changesPerSecond} states change each second`,
      unit: "%",
      value: during - alone,
      baseline: { what: "all that it does without them", value: alone },
      bar: costBar,
      detail: `before them ${before.toFixed(1)} %, with them ${during.toFixed(1)} %, when they had left ${after.toFixed(1)} %; ${perSecond} states changed each second; each viewer got ${changes} changes and ${kbPerSecond} KB each second`,
    },
    {
      what: "from a change in a cluster to its arrival at a viewer, 99th percentile",
      unit: "ms",
      value: percentile(all, 0.99),
      baseline: { what: "to a watch of its BundleDeployment", value: percentile(written, 0.99) },
      bar: latencyBarMs,
      detail: `median ${percentile(all, 0.5).toFixed(0)} ms, to a watch ${percentile(written, 0.5).toFixed(0)} ms; the longest ${percentile(all, 1).toFixed(0)} ms; ${missing} of ${made.length} changes did not arrive at all viewers, ${received.ended} streams have ended, ${received.resets} were reset`,
    },
  ];
}

/** `sorted`: ascending. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
