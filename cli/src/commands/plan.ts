/** `flotilla plan`: asks the agents of all clusters of an app, by way of the hub, what Helm would change. Nothing is changed. */
import type { CliConfig } from "../config.ts";
import { planExitCode, planText } from "./plan-text.ts";
import { printable } from "./printable.ts";
import { type ChangeOptions, proposedChange } from "./proposed-change.ts";
import { type PlanAskOptions, readPlan } from "./read-plan.ts";
import { parseApp } from "./target.ts";

export interface PlanCommandOptions extends PlanAskOptions, ChangeOptions {
  readonly stage?: string;
  readonly cluster?: string;
  readonly sample?: number;
  readonly gate?: string;
  readonly output: "text" | "json";
}

/** The exit code is as with `diff`: 0 nothing would change, 1 something would, more when the plan is not complete. */
export async function plan(
  target: readonly string[],
  options: PlanCommandOptions,
  config: CliConfig,
): Promise<void> {
  // If it fails.
  process.exitCode = 2;
  const { namespace, stage, cluster, sample, gate, output } = options;
  const query = { stage, cluster, gate, ...(sample !== undefined && { sample: String(sample) }) };
  const body = await proposedChange(options);
  const asked = { ...options, query, ...(body !== undefined && { body }) };
  const answer = await readPlan(parseApp(target, namespace), asked, config);
  const text = output === "json" ? `${JSON.stringify(answer, undefined, 2)}\n` : planText(answer);
  process.stdout.write(printable(text));
  process.exitCode = planExitCode(answer);
}
