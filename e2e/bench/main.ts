/**
 * `npm run bench`: the figures that DESIGN sets bars for, on real control planes, each beside its baseline from the same
 * run. Arguments choose parts by name; `--json FILE` writes the figures as JSON too, `--agents N` says how many agents are
 * simulated, `--plan-agents N` how many for a plan, `--rollout-agents N` how many for staged rollouts, `--sizes N,M` the sizes of the
 * fleets over which costs grow, `--releases N` how many HelmReleases one source has, and `--plots FOLDER` draws the results there.
 * It exits with 1 when a bar was missed.
 */
import { writeFile } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connectedAgents } from "./agents/agents.ts";
import { besideEarlierVersion } from "./before-stages.ts";
import { dashboard } from "./dashboard/dashboard.ts";
import { drifting } from "./drifting.ts";
import { addClusters, oneToMany } from "./fan-out.ts";
import { growth } from "./growth/growth.ts";
import { helmReleaseInstalls } from "./helm-releases.ts";
import { besideHostileCharts } from "./hostile.ts";
import { besideHostileSources } from "./hostile-sources.ts";
import { manyInstalls, oneInstall } from "./installing.ts";
import { type BenchFleet, startBenchFleet } from "./measure/bench-fleet.ts";
import { endOfHub } from "./measure/end-of-hub.ts";
import { type Figure, formatFigures, isMet } from "./measure/figures.ts";
import { fixedWorkMs } from "./measure/machine.ts";
import { planOfOneAgent } from "./plan.ts";
import { planOfFleet } from "./plan-fleet.ts";
import { pollingTogether } from "./polling-together.ts";
import { manyOnOneSource } from "./release-sources.ts";
import { resolving } from "./resolving.ts";
import { stagedRollouts } from "./rollouts/rollouts.ts";
import { idleRequests, memory, writesForOne } from "./standing-costs.ts";
import { storedBytes } from "./stored-bytes.ts";
import { besideWaitingReleases } from "./waiting.ts";

type Measure<T> = (bench: T) => Promise<readonly Figure[]>;

const { values, positionals } = parseArgs({
  options: {
    json: { type: "string" },
    releases: { type: "string", default: "1000" },
    agents: { type: "string", default: "5000" },
    "plan-agents": { type: "string", default: "1000" },
    "rollout-agents": { type: "string", default: "1000" },
    sizes: { type: "string", default: "10,100,1000,5000" },
    plots: { type: "string" },
  },
  allowPositionals: true,
});
/** Those that share one fleet. */
const parts: readonly (readonly [name: string, Measure<BenchFleet>])[] = [
  ["memory", memory],
  ["one", oneInstall],
  ["writes", writesForOne],
  ["many", manyInstalls],
  ["idle", idleRequests],
  ["bytes", storedBytes],
  ["clusters", addClusters],
  ["fan-out", oneToMany],
  ["polling", pollingTogether],
  ["resolve", resolving],
  ["hostile", besideHostileCharts],
  ["hostile-sources", besideHostileSources],
  ["waiting", besideWaitingReleases],
  ["drift", drifting],
  ["releases", helmReleaseInstalls],
  ["sources", (bench) => manyOnOneSource(bench, Number(values.releases))],
  // The last one: its simulated agents are not removed.
  ["dashboard", dashboard],
];
/** Each with a fleet of its own. */
const agentsPart = "agents";
const plansPart = "plans";
const rolloutsPart = "rollouts";
const growthPart = "growth";
/** With two fleets. */
const beforeStagesPart = "before-stages";
/** Without a hub. */
const planPart = "plan";

const names = [
  ...parts.map(([name]) => name),
  planPart,
  beforeStagesPart,
  agentsPart,
  plansPart,
  rolloutsPart,
  growthPart,
];
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`there is no part ${unknown.join(", ")}; there are ${names.join(", ")}`);
  process.exit(2);
}

console.log(
  `${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)} at the start; a fixed piece of work takes ${fixedWorkMs().toFixed(0)} ms of processor time`,
);
const isChosen = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
const figures: Figure[] = [];
function keep(measured: readonly Figure[]): void {
  figures.push(...measured);
  console.log(formatFigures(measured));
}

function plotFile(name: string): { readonly plotFile?: string } {
  return values.plots === undefined ? {} : { plotFile: join(values.plots, name) };
}

if (parts.some(([name]) => isChosen(name))) {
  const bench = await startBenchFleet();
  try {
    for (const [name, measure] of parts)
      if (isChosen(name)) keep(await Promise.race([measure(bench), endOfHub(bench)]));
  } finally {
    await bench.close();
  }
}
if (isChosen(planPart)) keep(await planOfOneAgent());
if (isChosen(beforeStagesPart)) keep(await besideEarlierVersion());
if (isChosen(agentsPart))
  await connectedAgents({
    agents: Number(values.agents),
    ...plotFile("agents.svg"),
    report: keep,
  });
if (isChosen(plansPart)) await planOfFleet({ agents: Number(values["plan-agents"]), report: keep });
if (isChosen(rolloutsPart))
  await stagedRollouts({ agents: Number(values["rollout-agents"]), report: keep });
if (isChosen(growthPart))
  await growth({
    sizes: values.sizes.split(",").map(Number),
    ...plotFile("growth.svg"),
    report: keep,
  });
if (values.json !== undefined)
  await writeFile(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
// Only now, so that all figures are printed.
if (!figures.every(isMet)) process.exitCode = 1;
