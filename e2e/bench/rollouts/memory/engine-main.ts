/** The costs of one staged rollout in a process of its own, without a network. Run by engine.ts, which reads the last line. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createTextSharing } from "@flotilla/hub/base";
import {
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type RolloutStrategy,
} from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import type { EngineFigures } from "./engine.ts";
import {
  bundleName,
  type FleetSize,
  putBundle,
  putClusters,
  reportFailed,
  reportReady,
  ringStrategy,
} from "./memory-fleet.ts";
import { startMemoryHub } from "./memory-hub.ts";

const [clusters = 10, targets = 1, stages = 1] = process.argv.slice(2).map(Number);
const size: FleetSize = { clusters, targets, stages };
const reports = 60;
/** Until the code of a report is compiled. */
const warmUp = 200;
const evaluations = 8;
const quietMs = 1_500;
/** Failing clusters of each stage, more than its status names. */
const mostFailing = 12;

const rest = createMemoryApiServer();
putClusters(rest, size);
putBundle(rest, size, { revision: 1 });
const hub = await startMemoryHub(rest, {
  kind: "http",
  version: "1.0.0",
  url: "https://charts.example.com/web-1.0.0.tgz",
  digest: `sha256:${"0".repeat(64)}`,
});
await until(() => rest.all(bundleDeployments).length === clusters);
for (const deployment of rest.all(bundleDeployments)) reportReady(rest, deployment);
await quiet();
let revision = 1;
const plain = await evaluationsUnder(undefined);
// As few as a tenth in flight, so that there is always somebody whose turn comes.
const limit = Math.max(1, Math.floor(clusters / stages / 10));
const strategy = ringStrategy(size, limit);
const spent: number[] = [];
const took: number[] = [];
for (let report = 0; report < warmUp + reports; report += 1) {
  await untilMayPromote();
  const { cpuMs, ms } = await reportAndPromotion();
  // Not counted: code is loaded and compiled.
  if (report < warmUp) continue;
  spent.push(cpuMs);
  took.push(ms);
}
await untilMayPromote();
const burst = await manyReports();
const full = await evaluationsUnder(strategy);
// While it promotes, what it keeps for reports is kept.
await untilMayPromote();
await reportAndPromotion();
await quiet();
const promoting = heapBytes();
await halt();
const halted = heapBytes();
const rolloutBytes = await largestRollout();
await hub.stop();

const figures: EngineFigures = {
  reportCpuMs: median(spent),
  reportMs: median(took),
  burstCpuMs: burst,
  ...full,
  plainMs: plain.fullMs,
  setsBytes: (promoting - halted) / clusters,
  promotionBytes: promotionBytes(),
  rolloutBytes,
};
console.log(JSON.stringify(figures));

/** A person halts the rollout. */
async function halt(): Promise<void> {
  const newest = rest.all(bundleRollouts).at(-1);
  if (newest === undefined) throw new Error("there is no rollout");
  await rest.patch(bundleRollouts, newest.metadata, {
    type: "merge",
    body: { spec: { state: "Halted" } },
  });
  await until(() => rest.peek(bundleRollouts, newest.metadata)?.status?.phase === "Halted");
  await quiet();
}

/** That of a rollout in which some clusters of each stage have failed, and the rollout goes on. */
async function largestRollout(): Promise<number> {
  revision += 1;
  const lenient = { ...ringStrategy(size, "100%"), onFailure: "Continue" } as const;
  putBundle(rest, size, { revision, strategy: lenient });
  const newest = () => rest.all(bundleRollouts).at(-1);
  await until(() => newest()?.spec.number === revision - 1);
  while (newest()?.status?.phase !== "Completed") {
    for (const [index, each] of inFlight().entries())
      if (each.status?.attemptedDeploymentID === each.spec.deploymentID) continue;
      else if (index % 2 === 1 && index <= 2 * mostFailing) reportFailed(rest, each);
      else reportReady(rest, each);
    await sleep(100);
  }
  await quiet();
  return Buffer.byteLength(JSON.stringify(newest()));
}

/** What a promotion adds to a BundleDeployment in a cache: as parsed from a watch. */
function promotionBytes(): number {
  const promoted = rest.all(bundleDeployments).find((each) => each.spec.promotion !== undefined);
  if (promoted === undefined) throw new Error("no cluster was promoted");
  const { promotion: _, ...spec } = promoted.spec;
  return cachedBytes(promoted) - cachedBytes({ ...promoted, spec });
}

function cachedBytes(deployment: BundleDeployment): number {
  const text = JSON.stringify(deployment);
  const share = createTextSharing();
  const before = heapBytes();
  const cached = Array.from({ length: clusters }, () => share(JSON.parse(text)));
  const bytes = (heapBytes() - before) / clusters;
  return cached.length === clusters ? bytes : Number.NaN;
}

/** From the report of one cluster until the next one is promoted. */
async function reportAndPromotion(): Promise<{ readonly cpuMs: number; readonly ms: number }> {
  await quiet(50);
  const deployment = inFlight()[0];
  if (deployment === undefined) throw new Error("no cluster is in flight");
  const promoted = nextPromotion(rest);
  const before = process.cpuUsage();
  const begunAt = performance.now();
  reportReady(rest, deployment);
  await promoted;
  return { cpuMs: cpuSince(before), ms: performance.now() - begunAt };
}

/** All that are in flight report, until as many others are promoted: for each of them. */
async function manyReports(): Promise<number> {
  await quiet();
  const reporting = inFlight();
  const left = behind();
  const before = process.cpuUsage();
  for (const each of reporting) reportReady(rest, each);
  const expected = Math.max(0, left - reporting.length);
  await until(() => behind() <= expected);
  return cpuSince(before) / reporting.length;
}

/** Something in the Bundle changes, so that all of it is evaluated, and nothing follows from it. */
async function evaluationsUnder(under: RolloutStrategy | undefined) {
  const evaluationMs: number[] = [];
  const lags: { p99Ms: number; longestMs: number }[] = [];
  for (let round = 0; round < evaluations; round += 1) {
    await quiet();
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const before = await hub.reconciled();
    const other = { strategy: { ...under, historyLimit: 3 + round } };
    putBundle(rest, size, {
      revision,
      ...(under === undefined ? { isRestricted: round % 2 === 0 } : other),
    });
    const generation = rest.peek(bundles, { namespace, name: bundleName })?.metadata.generation;
    await until(
      () =>
        rest.peek(bundles, { namespace, name: bundleName })?.status?.observedGeneration ===
        generation,
    );
    const after = await hub.reconciled();
    loop.disable();
    evaluationMs.push((after.ms - before.ms) / (after.count - before.count));
    lags.push({ p99Ms: loop.percentile(99) / 1e6, longestMs: loop.max / 1e6 });
  }
  return {
    fullMs: median(evaluationMs),
    lagP99Ms: median(lags.map(({ p99Ms }) => p99Ms)),
    lagMaxMs: Math.max(...lags.map(({ longestMs }) => longestMs)),
  };
}

/** Another revision, when there is nobody left whose turn comes after a report. */
async function untilMayPromote(): Promise<void> {
  if (revision > 1 && behind() > 0) return;
  for (const each of inFlight()) reportReady(rest, each);
  if (revision > 1)
    await until(() => rest.all(bundleRollouts).at(-1)?.status?.phase === "Completed");
  revision += 1;
  putBundle(rest, size, { revision, strategy });
  await until(() => inFlight().length === limit);
  await quiet();
}

function inFlight(): readonly BundleDeployment[] {
  return rest
    .all(bundleDeployments)
    .filter(({ spec, status }) => spec.deploymentID !== status?.appliedDeploymentID);
}

/** Those that were not promoted yet. */
function behind(): number {
  return rest
    .all(bundleDeployments)
    .filter(({ spec }) => spec.promotion?.rollout !== `${bundleName}-${revision - 1}`).length;
}

function nextPromotion(server: MemoryApiServer): Promise<void> {
  return new Promise((resolve) => {
    server.beforeWrite = (write) => {
      if (write.startsWith("replace bundledeployments")) resolve();
    };
  });
}

/** Resolves when nothing was written for so long. */
async function quiet(forMs = quietMs): Promise<void> {
  for (let written = -1; written !== rest.writes.length; ) {
    written = rest.writes.length;
    await sleep(forMs);
  }
}

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await sleep(5);
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function heapBytes(): number {
  rest.compact();
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
