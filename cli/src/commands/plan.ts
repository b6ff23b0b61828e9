/** `flotilla plan`: asks the agents of all clusters of an app, by way of the hub, what Helm would change. Nothing is changed. */
import { fleetPlanSchema } from "@flotilla/shared/plan";
import type { CliConfig } from "../config.ts";
import { type AskOptions, askHub } from "../fleet/index.ts";
import { planExitCode, planText } from "./plan-text.ts";
import { printable } from "./printable.ts";
import { appTargets, parseTarget } from "./target.ts";

export interface PlanCommandOptions extends Omit<AskOptions, "path" | "query" | "timeoutMs"> {
  readonly stage?: string;
  readonly cluster?: string;
  readonly sample?: number;
  readonly gate?: string;
  readonly output: "text" | "json";
}

/** Longer than the hub asks. */
const timeoutMs = 11 * 60_000;

/** The exit code is that of `diff`: 0 nothing would change, 1 something would, more when the plan is not complete. */
export async function plan(
  target: readonly string[],
  options: PlanCommandOptions,
  config: CliConfig,
): Promise<void> {
  // If it fails.
  process.exitCode = 2;
  const { namespace, stage, cluster, sample, gate, output } = options;
  const { resource, name } = parseTarget(target, appTargets);
  const path = `/requests/v1/namespaces/${namespace}/${resource.plural}/${name}/plan`;
  const query = { stage, cluster, gate, ...(sample !== undefined && { sample: String(sample) }) };
  const parts: string[] = [];
  await askHub({ ...options, path, query, timeoutMs }, config, (text) => void parts.push(text));
  const answer = fleetPlanSchema.parse(JSON.parse(parts.join("")));
  const text = output === "json" ? `${JSON.stringify(answer, undefined, 2)}\n` : planText(answer);
  process.stdout.write(printable(text));
  process.exitCode = planExitCode(answer);
}
