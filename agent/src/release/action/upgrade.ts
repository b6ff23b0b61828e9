/** The action `upgrade`. */
import { unreachable } from "@flotilla/shared/errors";
import type { DeployPass, DeployResult } from "./deploy-pass.ts";
import { noteFailure } from "./failed-attempts.ts";
import { afterFailure } from "./remediate.ts";
import { isFirst } from "./revision.ts";
import { attemptedOf, type DesiredRelease, type Tools } from "./tools.ts";
import { uninstallRecord } from "./uninstall.ts";

/** Installs, upgrades, or uninstalls first what cannot be upgraded. */
export async function upgrade(
  tools: Tools,
  revision: number,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const { namespace, name } = release.desired;
  pass.began(isFirst(tools.releases.latest(namespace, name)) ? "install" : "upgrade");
  const result = await tools.upgradeRelease({ ...release, revision }, pass);
  switch (result.kind) {
    case "done":
    case "again":
      return undefined;
    case "reinstall": {
      const record = tools.releases.latest(namespace, name);
      if (record !== undefined) await uninstallRecord(tools, record, release, pass);
      return undefined;
    }
    case "failed": {
      const { action, error, hasRecord } = result;
      // Another content is desired now, or the agent ends: Helm was interrupted.
      if (pass.signal.aborted || pass.superseded.aborted) throw error;
      const reason = action === "install" ? "InstallFailed" : "UpgradeFailed";
      if (!hasRecord) {
        await noteFailure(tools.attempts, attemptedOf(release), { action, reason, error });
        throw error;
      }
      return await afterFailure(tools, release, { action, reason, error });
    }
    default:
      return unreachable(result);
  }
}
