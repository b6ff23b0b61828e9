/** What the engine of staged rollouts costs, for a few clusters and for ten thousand: without a network, in a process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Figure } from "../../measure/figures.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("./engine-main.ts", import.meta.url));

/** What engine-main.ts measured. */
export interface EngineFigures {
  /** From the report of one cluster to the next promotion. */
  readonly reportCpuMs: number;
  readonly reportMs: number;
  /** When many report at once, for each of them. */
  readonly burstCpuMs: number;
  /** One reconcile of the Bundle that evaluates the whole rollout. */
  readonly fullMs: number;
  /** The same without a strategy. */
  readonly plainMs: number;
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
  /** What is kept for reports of one cluster, and its promotion in the cache of BundleDeployments. */
  readonly setsBytes: number;
  readonly promotionBytes: number;
  readonly rolloutBytes: number;
}

const few = { clusters: 10, targets: 1, stages: 1 } as const;
const many = { clusters: 10_000, targets: 50, stages: 16 } as const;
const bars = { reportMs: 1, timesFew: 1.5, fullMs: 150, lagMs: 100, memoryBytes: 128 } as const;
const rolloutBarBytes = 32 * 1024;

export async function engineFigures(): Promise<readonly Figure[]> {
  const ofFew = await measuredEngine(few);
  const ofMany = await measuredEngine(many);
  const { clusters, targets, stages } = many;
  return [
    {
      what: `one report of ${clusters} clusters to the next promotion, processor`,
      unit: "ms",
      value: ofMany.reportCpuMs,
      baseline: { what: `of ${few.clusters} clusters`, value: ofFew.reportCpuMs },
      bar: Math.min(bars.reportMs, bars.timesFew * ofFew.reportCpuMs),
      detail: `after ${ofMany.reportMs.toFixed(1)} ms; for each of many at once: ${ofMany.burstCpuMs.toFixed(1)} ms, with the evaluations of all that follow each second`,
    },
    {
      what: `evaluation of a rollout of ${clusters} clusters, ${stages} stages, ${targets} targets, in a reconcile of its Bundle`,
      unit: "ms",
      value: ofMany.fullMs - ofMany.plainMs,
      baseline: { what: "the reconcile without a strategy", value: ofMany.plainMs },
      bar: bars.fullMs,
    },
    {
      what: "lag of the event loop meanwhile, 99th percentile",
      unit: "ms",
      value: ofMany.lagP99Ms,
      baseline: { what: `with ${few.clusters} clusters`, value: ofFew.lagP99Ms },
      bar: bars.lagMs,
      detail: `the longest: ${ofMany.lagMaxMs.toFixed(0)} ms`,
    },
    {
      what: "memory of the hub for one cluster of a rollout",
      unit: "bytes",
      value: ofMany.setsBytes + ofMany.promotionBytes,
      bar: bars.memoryBytes,
      detail: `for its reports: ${ofMany.setsBytes.toFixed(0)}, for the promotion in its BundleDeployment: ${ofMany.promotionBytes.toFixed(0)}`,
    },
    {
      what: `size of the BundleRollout of ${clusters} clusters, ${stages} stages, ${targets} targets`,
      unit: "bytes",
      value: ofMany.rolloutBytes,
      baseline: { what: `of ${few.clusters} clusters`, value: ofFew.rolloutBytes },
      bar: rolloutBarBytes,
    },
  ];
}

/** In a process of its own. */
export async function measuredEngine(size: {
  readonly clusters: number;
  readonly targets: number;
  readonly stages: number;
}): Promise<EngineFigures> {
  const args = [size.clusters, size.targets, size.stages].map(String);
  const { stdout } = await run(process.execPath, [
    // As in the hub's image.
    "--max-semi-space-size=4",
    "--expose-gc",
    program,
    ...args,
  ]);
  const figures: EngineFigures = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  return figures;
}
