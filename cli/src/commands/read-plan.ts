/** Asks the hub for a plan: a new one, or what the approval of a Gate is about. */

import { appDefinition } from "@flotilla/shared/api/apps";
import { type FleetPlan, fleetPlanSchema } from "@flotilla/shared/plan";
import type { CliConfig } from "../config.ts";
import { type AskOptions, askHub } from "../fleet/index.ts";
import type { AppRef } from "../rollout/index.ts";

/** How the hub is asked, and with whose token. */
export type PlanAskOptions = Omit<AskOptions, "path" | "query" | "timeoutMs">;

/** Longer than the hub asks. */
const timeoutMs = 11 * 60_000;

/** Throws what `askHub` throws. */
export async function readPlan(
  { kind, namespace, name }: AppRef,
  { query, ...options }: PlanAskOptions & Pick<AskOptions, "query" | "body">,
  config: CliConfig,
): Promise<FleetPlan> {
  const { plural } = appDefinition(kind).resource;
  const path = `/requests/v1/namespaces/${namespace}/${plural}/${name}/plan`;
  const parts: string[] = [];
  await askHub({ ...options, path, query, timeoutMs }, config, (text) => void parts.push(text));
  return fleetPlanSchema.parse(JSON.parse(parts.join("")));
}
