/** A change in four stages, beside the same change for all clusters at once; and how often the hub writes meanwhile. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { type Figure, median } from "../measure/figures.ts";
import { brokenLimits, mostWrites, spanOf } from "./observed.ts";
import {
  type ByProcess,
  byProcess,
  difference,
  memoryOf,
  processorOf,
  processText,
} from "./processes.ts";
import {
  app,
  change,
  contentsNow,
  observedQuarters,
  quarters,
  rolloutAs,
  type StagedFleet,
  untilNoWrites,
  untilReady,
  writesSince,
} from "./staged-fleet.ts";

const rounds = 3;
const share = 4;
const storedBarBytes = 150;
/** A status may be written five times at once, then once a second. */
const burst = 5;

/** One change, from the patch of the HelmOp until all clusters are ready. */
interface Changed {
  readonly ms: number;
  /** For each stage, one after the other: from its first promotion until its last cluster is ready. */
  readonly criticalMs: number;
  readonly lagMs: number;
  readonly processor: ByProcess;
  /** What the API server stores of the BundleDeployment of one cluster. */
  readonly storedBytes: number;
  readonly broken: readonly string[];
  readonly mostWrites: number;
  readonly decisions: number;
  readonly writes: ReadonlyMap<string, number>;
  readonly toLastWriteMs: number;
}

export async function allAndStaged(fleet: StagedFleet): Promise<readonly Figure[]> {
  const { agents } = fleet;
  const [all, staged, limited]: [Changed[], Changed[], Changed[]] = [[], [], []];
  const inStage = Math.ceil(agents / share);
  const fourth = Math.floor(inStage / share);
  // Not counted: code is loaded.
  await changed(fleet, quarters(agents), inStage);
  console.log(`    ${rounds} rounds of three changes each`);
  for (let round = 0; round < rounds; round += 1) {
    all.push(await changed(fleet, null, agents));
    staged.push(await changed(fleet, quarters(agents), inStage));
    limited.push(await changed(fleet, quarters(agents, { maxUnavailable: "25%" }), fourth));
    console.log(
      `    round ${round + 1}: ${[all, staged, limited].map((each) => each.at(-1)?.ms.toFixed(0)).join(", ")} ms`,
    );
  }
  const allMs = median(all.map(({ ms }) => ms));
  return [
    ...timeFigures(`${agents} clusters, 4 stages of a quarter each`, staged, allMs),
    ...timeFigures(
      `${agents} clusters, 4 stages, a quarter of each stage at a time`,
      limited,
      allMs,
    ),
    ...writeFigures(agents, staged, all),
    storedFigure(staged, all),
    ...(await processFigures(fleet, staged, all)),
  ];
}

async function changed(
  fleet: StagedFleet,
  strategy: RolloutStrategy | null,
  maxUnavailable: number,
): Promise<Changed> {
  const { bench, observer, agents, stageClusters } = fleet;
  const counts = await untilNoWrites(fleet);
  await bench.hubLag();
  const processorBefore = await processorOf(fleet);
  const [from, rolloutsFrom] = [observer.states.length, observer.rollouts.length];
  const before = contentsNow(observer);
  const begunAtMs = performance.now();
  await change(fleet, strategy);
  const content = await untilReady(fleet, agents, { from, before });
  const ms = performance.now() - begunAtMs;
  if (strategy !== null) await rolloutAs(fleet, ({ status }) => status?.phase === "Completed");
  const lag = await bench.hubLag();
  const processor = difference(processorBefore, await processorOf(fleet));
  const after = await untilNoWrites(fleet);
  const states = observer.states.slice(from);
  const spans = stageClusters.flatMap((clusters) => spanOf(states, content, clusters) ?? []);
  return {
    ms,
    criticalMs: spans.reduce((sum, { beginsAtMs, endsAtMs }) => sum + endsAtMs - beginsAtMs, 0),
    lagMs: lag.p99Ms,
    processor,
    storedBytes: await storedBytes(fleet),
    broken:
      strategy === null
        ? []
        : brokenLimits(states, content, observedQuarters(fleet, maxUnavailable)),
    mostWrites: mostWrites(states),
    decisions: decisionsIn(observer.rollouts.slice(rolloutsFrom)),
    writes: new Map(writesSince(counts, after)),
    toLastWriteMs: performance.now() - begunAtMs,
  };
}

/** How often the phase of the rollout, or of a stage, or a gate was another one. */
function decisionsIn(rollouts: readonly BundleRollout[]): number {
  const decided = rollouts.map(({ metadata, status }) =>
    JSON.stringify([
      metadata.name,
      status?.phase,
      (status?.stages ?? []).map(({ phase, gates }) => [phase, gates]),
    ]),
  );
  return decided.filter((each, index) => each !== decided[index - 1]).length;
}

function timeFigures(what: string, changes: readonly Changed[], allMs: number): readonly Figure[] {
  const ms = median(changes.map((each) => each.ms));
  const criticalMs = median(changes.map((each) => each.criticalMs));
  const broken = changes.flatMap((each) => each.broken);
  return [
    {
      what: `${what}, until all are ready`,
      unit: "ms",
      value: ms,
      baseline: { what: "all at once", value: allMs },
      bar: Math.max(1.3 * allMs, 1.1 * criticalMs),
      detail: `${each(changes, (one) => one.ms)}; ${(ms / allMs).toFixed(2)} times all at once; the stages alone, each from its first promotion to its last report: ${each(changes, (one) => one.criticalMs)}; the hub's processor: ${each(changes, (one) => one.processor.hub)}`,
    },
    {
      what: "the hub's event loop lag meanwhile, 99th percentile",
      unit: "ms",
      value: median(changes.map(({ lagMs }) => lagMs)),
      bar: 100,
    },
    {
      what: "limits that were broken meanwhile",
      unit: "errors",
      value: broken.length,
      bar: 0,
      ...(broken[0] !== undefined && { detail: broken[0] }),
    },
  ];
}

function writeFigures(
  agents: number,
  staged: readonly Changed[],
  all: readonly Changed[],
): readonly Figure[] {
  const deployments = (one: Changed) => writesOf(one, /bundledeployments/) / agents;
  const seconds = (one: Changed) => Math.ceil(one.toLastWriteMs / 1_000);
  const last = staged.at(-1);
  return [
    {
      what: "writes of the BundleDeployment for one cluster of a staged rollout",
      unit: "writes",
      value: median(staged.map(deployments)),
      baseline: { what: "all at once", value: median(all.map(deployments)) },
      bar: 3,
      detail: `the most for one cluster: ${staged.map((one) => one.mostWrites).join(", ")}; ${text(last)}; all at once: ${text(all.at(-1))}`,
    },
    ...[
      ["BundleRollout", / bundlerollouts/],
      ["HelmOp", / helmops/],
      ["Bundle", / bundles/],
    ].map(([kind, pattern]): Figure => {
      const worst = staged.toSorted((a, b) => writesOf(b, pattern) - writesOf(a, pattern))[0];
      return {
        what: `writes of the ${kind} meanwhile`,
        unit: "writes",
        value: worst === undefined ? 0 : writesOf(worst, pattern),
        baseline: {
          what: "all at once",
          value: median(all.map((one) => writesOf(one, pattern))),
        },
        bar: worst === undefined ? 0 : burst + seconds(worst) + worst.decisions,
        detail: `5 at once, 1 for each of ${worst && seconds(worst)} seconds, and 1 for each of ${worst?.decisions} decisions`,
      };
    }),
  ];
}

/** As the API server gives it, which is how it stores it. */
async function storedBytes({ bench, stageClusters }: StagedFleet): Promise<number> {
  const [cluster = ""] = stageClusters[0] ?? [];
  const namespace = clusterNamespaceName(workspaceNamespace, cluster);
  const path = `/apis/fleet.cattle.io/v1alpha1/namespaces/${namespace}/bundledeployments/${app}`;
  return Buffer.byteLength(await bench.fleet.hub.raw(path));
}

function storedFigure(staged: readonly Changed[], all: readonly Changed[]): Figure {
  const before = median(all.map((one) => one.storedBytes));
  return {
    what: "bytes that are stored more of one cluster of a staged rollout",
    unit: "bytes",
    value: median(staged.map((one) => one.storedBytes)) - before,
    baseline: { what: "of a cluster all at once, everything", value: before },
    bar: storedBarBytes,
  };
}

/** Which process has how much to do. */
async function processFigures(
  fleet: StagedFleet,
  staged: readonly Changed[],
  all: readonly Changed[],
): Promise<readonly Figure[]> {
  const forEach = (changes: readonly Changed[]) =>
    byProcess((name) => median(changes.map(({ processor }) => processor[name])) / fleet.agents);
  const [ofStaged, ofAll] = [forEach(staged), forEach(all)];
  const memory = await memoryOf(fleet);
  return [
    {
      what: "processor of the hub for one cluster of a staged rollout",
      unit: "ms",
      value: ofStaged.hub,
      baseline: { what: "all at once", value: ofAll.hub },
      detail: `staged: ${processText(ofStaged, "ms", 1)}; all at once: ${processText(ofAll, "ms", 1)}`,
    },
    {
      what: `memory of the hub with ${fleet.agents} agents after these rollouts`,
      unit: "MB",
      value: memory.hub,
      detail: processText(memory, "MB", 0),
    },
  ];
}

function writesOf({ writes }: Changed, pattern: RegExp | string = /./): number {
  return [...writes]
    .filter(([what]) => what.search(pattern) !== -1)
    .reduce((sum, [, count]) => sum + count, 0);
}

function text(one: Changed | undefined): string {
  return [...(one?.writes ?? [])].map(([what, count]) => `${what}: ${count}`).join(", ");
}

function each(changes: readonly Changed[], read: (one: Changed) => number): string {
  return `${changes.map((one) => read(one).toFixed(0)).join(", ")} ms`;
}
