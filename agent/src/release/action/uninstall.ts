/** The action `uninstall`. */
import { type ReleaseRecord, uninstallFlags } from "../../helm/index.ts";
import type { Action } from "../state/action.ts";
import { crdPolicy } from "./assigned-content.ts";
import type { DeployPass, DeployResult } from "./deploy-pass.ts";
import type { Uninstalled } from "./helm-uninstall.ts";
import { remediate } from "./remediate.ts";
import type { DesiredRelease, Tools } from "./tools.ts";
import { skippedText } from "./unserved-objects.ts";

/** For a release that moves, whose uninstall was interrupted, or whose action failed; of that it always throws. */
export async function uninstall(
  tools: Tools,
  { record, why }: Extract<Action, { kind: "uninstall" }>,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  if (why === "remediation") {
    pass.began("uninstall");
    return await remediate(tools, release, "uninstall", async () =>
      skippedText((await uninstallRecord(tools, record, release, pass)).skipped),
    );
  }
  // A release that moves stays in its old namespace until it can be installed in the new one.
  const unmet = await pass.unmetDependencies(release.content);
  if (unmet !== undefined) return { kind: "blocked", unmet };
  pass.began("uninstall");
  await uninstallRecord(tools, record, release, pass);
  return undefined;
}

export async function uninstallRecord(
  { uninstallRelease }: Tools,
  record: ReleaseRecord,
  { content, client, desired, isForced, inputs }: DesiredRelease,
  { signal }: DeployPass,
): Promise<Uninstalled> {
  return await uninstallRelease(record, {
    ...crdPolicy(content, client, signal),
    isForced,
    to: desired,
    flags: uninstallFlags(content),
    redact: (text) => inputs.redact(text),
  });
}
