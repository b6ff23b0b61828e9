/** Performs one action for a release: Helm is run by the functions of `helm-actions.ts`, readiness awaited by `await-readiness.ts`. */
import { unreachable } from "@flotilla/shared/errors";
import { applyNamespaceMetadata, type ReleaseRecord } from "../../helm/index.ts";
import type { Action } from "../state/action.ts";
import { crdPolicy } from "./assigned-content.ts";
import { awaitReadiness } from "./await-readiness.ts";
import { claimSame } from "./claims.ts";
import type { DeployPass, DeployResult, InSync } from "./deploy-pass.ts";
import { failedAttemptsAt, stopError } from "./failed-attempts.ts";
import { rollBack, runTests, uninstall, upgrade } from "./helm-actions.ts";
import { disownChanged, inSync, isUnchanged } from "./in-sync.ts";
import { lockedError, lockTimeoutMs } from "./lock-times.ts";
import { releaseConflict, releaseExists } from "./occupied.ts";
import { attemptedOf, type DesiredRelease, type Tools } from "./tools.ts";

/** Undefined: decide again. Throws why the desired state cannot be reached. */
export async function act(
  tools: Tools,
  action: Action,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const { content, desired, client } = release;
  if (changesObjects(action)) tools.drift.suspend(desired.owner.id);
  switch (action.kind) {
    case "none":
      return await finish(tools, action.record, release, pass);
    case "wait":
      return { kind: "wait", untilMs: action.untilMs, why: action.why };
    case "await":
      return await awaitReadiness(tools, action, release, pass);
    case "stop": {
      const failed = failedAttemptsAt(tools.attempts, attemptedOf(release));
      throw stopError(action.why, failed);
    }
    case "locked":
      throw lockedError(action.record, lockTimeoutMs(content));
    case "conflict":
      throw releaseConflict(content, action.owner);
    case "foreign":
      throw releaseExists(content, action.record);
    case "claim":
      await claimSame(tools, release.assignment, content, action);
      return undefined;
    case "adopt":
      await tools.stored.adopt(client.rest, action.record, desired.owner);
      return undefined;
    case "unlock":
      await tools.stored.unlock(client.rest, action.record);
      return undefined;
    case "correctDrift":
      return await correctDrift(tools, action.record, release, pass);
    case "test":
      pass.began("test");
      return await runTests(tools, action.record, release, pass);
    case "rollback":
      pass.began("rollback");
      return await rollBack(tools, action, release, pass);
    case "uninstall":
      return await uninstall(tools, action, release, pass);
    case "upgrade":
      return await upgrade(tools, action.revision, release, pass);
    default:
      return unreachable(action);
  }
}

/** Helm changes objects one after the other: meanwhile they differ from every manifest. */
function changesObjects({ kind }: Action): boolean {
  return kind === "upgrade" || kind === "rollback" || kind === "uninstall";
}

/** The release is as desired: completes what follows its installation. */
async function finish(
  tools: Tools,
  record: ReleaseRecord,
  release: DesiredRelease,
  { signal }: DeployPass,
): Promise<InSync | undefined> {
  const { crds, downstream, inventory, attempts, recordsNamespace } = tools;
  const { content, desired, client, inputs } = release;
  const owner = desired.owner.id;
  if (await disownChanged(tools, record)) return undefined;
  await attempts.setStoppedAt(owner, undefined);
  await attempts.endRun(owner);
  await attempts.setFailedAttempts(owner, undefined);
  await attempts.setAttempt(owner, undefined);
  await inventory.ensureStored(owner);
  const { namespace } = desired;
  await downstream.apply(inputs.downstream, { owner, namespace, client, signal });
  await applyNamespaceMetadata(client, content, signal);
  await crds.reconcile(record, crdPolicy(content, client, signal));
  await recordsNamespace.clear({ content, client, signal });
  return await inSync(tools, release, record);
}

/** Objects are changed back as the account of the deployment; Helm's storage stays as it is. */
async function correctDrift(
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
