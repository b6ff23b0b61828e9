/** The action `upgrade`. */
import { unreachable } from "@flotilla/shared/errors";
import type { DeployPass, DeployResult } from "./deploy-pass.ts";
import { afterFailure } from "./remediate.ts";
import type { DesiredRelease, Tools } from "./tools.ts";
import { uninstallRecord } from "./uninstall.ts";

/** Installs, upgrades, or uninstalls first what cannot be upgraded; after the dependencies. */
export async function upgrade(
  tools: Tools,
  revision: number,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const unmet = await pass.unmetDependencies(release.content);
  if (unmet !== undefined) return { kind: "blocked", unmet };
  const result = await tools.upgradeRelease({ ...release, revision }, pass);
  switch (result.kind) {
    case "done":
      return undefined;
    case "reinstall": {
      const { namespace, name } = release.desired;
      const record = tools.releases.latest(namespace, name);
      if (record !== undefined) await uninstallRecord(tools, record, release, pass);
      return undefined;
    }
    case "failed": {
      const { action, error, hasRecord } = result;
      // Another content is desired now, or the agent ends: Helm was interrupted.
      if (!hasRecord || pass.signal.aborted || pass.superseded.aborted) throw error;
      const reason = action === "install" ? "InstallFailed" : "UpgradeFailed";
      return await afterFailure(tools, release, { action, reason, error });
    }
    default:
      return unreachable(result);
  }
}
