/** The action `test`. */
import { type ReleaseRecord, testOptions } from "../../helm/index.ts";
import type { Inventory } from "../../state/index.ts";
import type { AttemptedAction } from "../state/failure-policy.ts";
import type { DeployPass, DeployResult } from "./deploy-pass.ts";
import { afterFailure } from "./remediate.ts";
import type { DesiredRelease, Tools } from "./tools.ts";

/** Runs the chart's tests. One that fails counts as a failure of what created the revision, unless it is ignored. */
export async function runTests(
  tools: Tools,
  record: ReleaseRecord,
  release: DesiredRelease,
  { signal, superseded }: DeployPass,
): Promise<DeployResult | undefined> {
  const { content, desired, client, inputs } = release;
  const options = testOptions(content);
  if (options === undefined) return undefined;
  const until = AbortSignal.any([signal, superseded]);
  const error = await tools.runTests(record, { options, client, inputs, signal: until });
  if (error === undefined || desired.tests === "ignored") return undefined;
  const action = attemptedBy(tools.inventory, record);
  return await afterFailure(tools, release, { action, reason: "TestFailed", error });
}

/** A rollback is tested, too, because its revision is the desired one again. */
function attemptedBy(inventory: Inventory, record: ReleaseRecord): AttemptedAction {
  const action = inventory.revisionOf(record, record.revision)?.action;
  return action === "install" ? "install" : "upgrade";
}
