/**
 * The actions that run Helm: `upgrade`, `test`, `rollback` and `uninstall`. What Helm did is recorded before one returns. Undefined:
 * decide again. A failure is counted before it is thrown, unless Helm was interrupted; where a remediation follows, it is not thrown.
 */

import { unreachable } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { type ReleaseRecord, testOptions, uninstallFlags } from "../../helm/index.ts";
import type { Inventory } from "../../state/index.ts";
import type { Action } from "../state/action.ts";
import type { AttemptedAction } from "../state/failure-policy.ts";
import { crdPolicy } from "./assigned-content.ts";
import type { DeployPass, DeployResult } from "./deploy-pass.ts";
import { noteFailure } from "./failed-attempts.ts";
import type { Uninstalled } from "./helm-uninstall.ts";
import { remediate, settleFailedAttempt } from "./remediate.ts";
import { isFirst } from "./revision.ts";
import { attemptedOf, type DesiredRelease, type Tools } from "./tools.ts";
import { skippedText } from "./unserved-objects.ts";

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
      await setVerified(tools, release);
      if (record !== undefined) await uninstallRecord(tools, record, release, pass);
      return undefined;
    }
    case "failed": {
      const { action, error, hasRecord } = result;
      // Another content is desired now, or the agent ends: Helm was interrupted.
      if (pass.signal.aborted || pass.superseded.aborted) throw error;
      const reason = action === "install" ? fluxReason.installFailed : fluxReason.upgradeFailed;
      if (!hasRecord) {
        await noteFailure(tools.attempts, attemptedOf(release), { action, reason, error });
        throw error;
      }
      return await settleFailedAttempt(tools, release, { action, reason, error });
    }
    default:
      return unreachable(result);
  }
}

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
  return await settleFailedAttempt(tools, release, {
    action,
    reason: fluxReason.testFailed,
    error,
  });
}

/** A rollback is tested, too, because its revision is the desired one again. */
function attemptedBy(inventory: Inventory, record: ReleaseRecord): AttemptedAction {
  const action = inventory.revisionOf(record, record.revision)?.action;
  return action === "install" ? "install" : "upgrade";
}

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

/** For a release that moves, whose uninstall was interrupted, or whose action failed. After a failed action it always throws. */
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
  await setVerified(tools, release);
  await uninstallRecord(tools, record, release, pass);
  return undefined;
}

/** What was uninstalled for the content is no longer what was planned. */
async function setVerified(
  { attempts }: Tools,
  { assignment: { owner, verification } }: DesiredRelease,
): Promise<void> {
  await attempts.setVerified(owner.id, verification);
}

async function uninstallRecord(
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
