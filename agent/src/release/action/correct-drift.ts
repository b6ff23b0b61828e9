/** The action `correctDrift`. */
import type { ReleaseRecord } from "../../helm/index.ts";
import type { DeployPass } from "./deploy-pass.ts";
import { isUnchanged } from "./in-sync.ts";
import type { DesiredRelease, Tools } from "./tools.ts";

/** Objects are changed back as the account of the deployment; Helm's storage stays as it is. */
export async function correctDrift(
  tools: Tools,
  record: ReleaseRecord,
  { desired, correctionRequest }: DesiredRelease,
  { signal, superseded }: DeployPass,
): Promise<undefined> {
  if (await isUnchanged(tools, record))
    await tools.drift.correct(
      desired.owner.id,
      AbortSignal.any([signal, superseded]),
      correctionRequest(),
    );
  else await tools.inventory.disown(record, record.revision);
  return undefined;
}
