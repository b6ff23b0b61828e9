/** A change in four stages, beside the same change for all clusters at once; and how often the hub writes meanwhile. */
import { type Figure, median } from "../measure/figures.ts";
import { type Changed, changed } from "./changed.ts";
import { byProcess, memoryOf, processText } from "./processes.ts";
import { quarters, type StagedFleet } from "./staged-fleet.ts";

const rounds = 3;
const share = 4;
const storedBarBytes = 150;
/** A status may be written five times at once, then once a second. */
const burst = 5;

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
