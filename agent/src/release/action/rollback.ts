/** The action `rollback`. */
import type { Action } from "../state/action.ts";
import type { DeployPass } from "./deploy-pass.ts";
import { remediate } from "./remediate.ts";
import type { DesiredRelease, Tools } from "./tools.ts";

/** Remediates a failed upgrade. Always throws: the failure stays reported. */
export async function rollBack(
  tools: Tools,
  { record, target }: Extract<Action, { kind: "rollback" }>,
  release: DesiredRelease,
  { signal }: DeployPass,
): Promise<undefined> {
  return await remediate(tools, release, "rollback", async () => {
    await tools.rollBack({ ...release, revision: record.revision + 1, target }, signal);
    return "";
  });
}
