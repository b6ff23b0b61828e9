/** What the engine of staged rollouts costs, for a few clusters and for ten thousand. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const program = fileURLToPath(new URL("./engine-main.ts", import.meta.url));

/** What engine-main.ts measured. */
export interface EngineFigures {
  /** From the report of one cluster to the next promotion. */
  readonly reportCpuMs: number;
  readonly reportMs: number;
  /** When many report at once, for each of them. */
  readonly burstCpuMs: number;
  /** The whole rollout is evaluated. */
  readonly fullCpuMs: number;
  readonly fullMs: number;
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
  /** What is kept for reports of one cluster, and its promotion in the cache of BundleDeployments. */
  readonly setsBytes: number;
  readonly promotionBytes: number;
  readonly rolloutBytes: number;
}
