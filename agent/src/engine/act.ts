/** Performs one action for a release. */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, unreachable } from "@flotilla/shared/errors";
import type { Clock } from "@flotilla/shared/time";
import type { Assignment } from "../assignment/index.ts";
import type { CrdRetention } from "../crds/index.ts";
import type { UnmetDependencies } from "../dependencies/index.ts";
import type { DownstreamResources } from "../downstream/index.ts";
import type { DriftTracker } from "../drift/index.ts";
import { agentErrors } from "../errors/index.ts";
import {
  type ReleaseRecord,
  type Releases,
  rollbackOptions,
  type StoredReleases,
  testOptions,
  uninstallFlags,
  upgradeOptions,
} from "../helm/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import type { Inventory } from "../inventory/index.ts";
import { applyNamespaceMetadata } from "../namespace/index.ts";
import type { ReadRecords } from "../record/index.ts";
import {
  type Action,
  type AttemptedAction,
  type Desired,
  type FailurePolicy,
  failurePolicy,
} from "../release/index.ts";
import type { ReleaseInputs } from "../values/index.ts";
import { crdPolicy } from "./assigned-content.ts";
import { claimSame } from "./claims.ts";
import type { DeployPass, DeployResult, InSync } from "./deploy-pass.ts";
import {
  type Attempted,
  countFailure,
  type FailedAttempt,
  failedAttemptsAt,
  isLast,
  recordRemediation,
  remediated,
  stopError,
} from "./failed-attempts.ts";
import { inSync, isUnchanged } from "./in-sync.ts";
import { lockedError, lockTimeoutMs } from "./lock-times.ts";
import { RetryError } from "./progress.ts";
import { notReadyError } from "./readiness-wait.ts";
import type { Rollback } from "./rollback.ts";
import type { RunTests } from "./run-tests.ts";
import type { Uninstall } from "./uninstall.ts";
import type { Upgrade } from "./upgrade.ts";

/** The dependencies of all actions. */
export interface Tools {
  readonly releases: Pick<Releases, "latest" | "history">;
  readonly stored: StoredReleases;
  readonly records: ReadRecords;
  readonly crds: CrdRetention;
  readonly downstream: Pick<DownstreamResources, "apply">;
  readonly inventory: Inventory;
  readonly uninstallRelease: Uninstall;
  readonly upgradeRelease: Upgrade;
  readonly rollBack: Rollback;
  readonly runTests: RunTests;
  readonly drift: Pick<DriftTracker, "driftOf" | "correct" | "suspend">;
  readonly clock: Clock;
}

/** A deployment in its desired state in this cluster. */
export interface DesiredRelease {
  readonly assignment: Assignment;
  readonly content: DeploymentContent;
  readonly desired: Desired;
  readonly isForced: boolean;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

/** Undefined: decide again. Throws why the desired state cannot be reached. */
export async function act(
  tools: Tools,
  action: Action,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const { content, desired, client } = release;
  if (changesObjects(action)) tools.drift.suspend(desired.owner.name);
  switch (action.kind) {
    case "none":
      return await finish(tools, action.record, release, pass);
    case "wait":
      return { kind: "wait", untilMs: action.untilMs, why: action.why };
    case "await":
      return await awaitReadiness(tools, action, release, pass);
    case "stop": {
      const failed = failedAttemptsAt(tools.inventory, attemptedOf(release));
      throw stopError(action.why, failed);
    }
    case "locked":
      throw lockedError(action.record, lockTimeoutMs(content));
    case "conflict":
      throw new AppError(
        agentErrors.RELEASE_CONFLICT,
        `release ${content.namespace}/${content.releaseName} belongs to deployment ${action.owner.name}; give one of the two another releaseName or namespace`,
      );
    case "foreign":
      throw new AppError(
        agentErrors.RELEASE_EXISTS,
        `release ${content.namespace}/${content.releaseName} exists already, in revision ${action.record.revision}, and this agent did not install it; nothing was changed. Set helm.takeOwnership to take it over, or another releaseName or namespace`,
      );
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
      return await runTests(tools, action.record, release, pass);
    case "rollback":
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

/** Objects are changed back as the account of the deployment; Helm's storage stays as it is. */
async function correctDrift(
  tools: Tools,
  record: ReleaseRecord,
  { desired }: DesiredRelease,
  { signal, superseded }: DeployPass,
): Promise<undefined> {
  if (await isUnchanged(tools, record))
    await tools.drift.correct(desired.owner.name, AbortSignal.any([signal, superseded]));
  else await tools.inventory.disown(record, record.revision);
  return undefined;
}

/** The release is as desired: completes what follows its installation. */
async function finish(
  tools: Tools,
  record: ReleaseRecord,
  release: DesiredRelease,
  { signal }: DeployPass,
): Promise<InSync | undefined> {
  const { crds, downstream, inventory } = tools;
  const { content, desired, client, inputs } = release;
  const owner = desired.owner.name;
  if (!(await isUnchanged(tools, record))) {
    await inventory.disown(record, record.revision);
    return undefined;
  }
  await inventory.setStoppedAt(owner, undefined);
  await inventory.endRun(owner);
  await inventory.setFailedAttempts(owner, undefined);
  await inventory.ensureStored(owner);
  const { namespace } = desired;
  await downstream.apply(inputs.downstream, { owner, namespace, client, signal });
  await applyNamespaceMetadata(client, content, signal);
  await crds.reconcile(record, crdPolicy(content, client, signal));
  return await inSync(tools, release, record);
}

/** Nothing is occupied while the release becomes ready: it is reconciled again when its objects change, and at the deadline. */
async function awaitReadiness(
  tools: Tools,
  { record, untilMs }: Extract<Action, { kind: "await" }>,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const { inventory, stored, clock } = tools;
  const { desired, client } = release;
  const action = inventory.revisionOf(record, record.revision)?.action ?? "upgrade";
  const found = await inSync(tools, release, record);
  const readiness = pass.readinessOf(found);
  // Its objects were not read yet: nothing can be said of them, also after the deadline. A change of readiness ends this wait.
  if (readiness === undefined) return progress(tools, release, { found, action, untilMs });
  const waitsForJobs = mustCompleteJobs(release, action);
  if (readiness.ready && !(waitsForJobs && readiness.runningJob !== undefined)) {
    await inventory.endDeadline(desired.owner.name);
    return undefined;
  }
  if (clock.now() < untilMs) return progress(tools, release, { found, action, untilMs });
  const error = notReadyError(record, readiness);
  await stored.fail(client.rest, record, error.message);
  await inventory.endDeadline(desired.owner.name);
  if (action === "rollback") {
    await recordRemediation(inventory, attemptedOf(release), "rollback", error);
    throw error;
  }
  const reason = action === "install" ? "InstallFailed" : "UpgradeFailed";
  return await afterFailure(tools, release, { action, reason, error });
}

function progress(
  tools: Tools,
  release: DesiredRelease,
  {
    found,
    action,
    untilMs,
  }: { readonly found: InSync; readonly action: RevisionAction; readonly untilMs: number },
): DeployResult {
  return action === "rollback"
    ? { kind: "rollingBack", failure: lastFailure(tools, release), untilMs }
    : { kind: "progressing", found, untilMs };
}

type RevisionAction = AttemptedAction | "rollback";

function mustCompleteJobs({ content }: DesiredRelease, action: RevisionAction): boolean {
  return action === "rollback"
    ? rollbackOptions(content).waitsForJobs
    : upgradeOptions(content, action === "install").waitsForJobs;
}

/** What a rollback in progress follows. */
function lastFailure({ inventory }: Tools, release: DesiredRelease) {
  const failed = failedAttemptsAt(inventory, attemptedOf(release));
  return failed === undefined
    ? { message: "", code: agentErrors.HELM_FAILED.code }
    : { message: `${failed.message}${remediated(failed)}`, code: failed.code };
}

async function upgrade(
  tools: Tools,
  revision: number,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const unmet = await unmetDependencies(release, pass);
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

/** Undefined: what the attempt has left is remediated next. */
async function afterFailure(
  { inventory }: Tools,
  release: DesiredRelease,
  failure: FailedAttempt,
): Promise<undefined> {
  const policy = policiesOf(release.content)[failure.action];
  const failed = await countFailure(inventory, attemptedOf(release), failure);
  if (policy.kind === "retry") {
    if (policy.intervalMs === undefined) throw failure.error;
    throw new RetryError(failure.error, policy.intervalMs);
  }
  const isIgnored = failure.reason === "TestFailed" && policy.ignoresTests;
  if (isIgnored || failed.count === 0) throw failure.error;
  return undefined;
}

async function runTests(
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

async function rollBack(
  tools: Tools,
  { record, target }: Extract<Action, { kind: "rollback" }>,
  release: DesiredRelease,
  { signal }: DeployPass,
): Promise<undefined> {
  return await remediate(tools, release, "rollback", async () => {
    await tools.rollBack({ ...release, revision: record.revision + 1, target }, signal);
  });
}

async function uninstall(
  tools: Tools,
  { record, why }: Extract<Action, { kind: "uninstall" }>,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  if (why === "remediation")
    return await remediate(tools, release, "uninstall", () =>
      uninstallRecord(tools, record, release, pass),
    );
  // A release that moves stays in its old namespace until it can be installed in the new one.
  const unmet = await unmetDependencies(release, pass);
  if (unmet !== undefined) return { kind: "blocked", unmet };
  await uninstallRecord(tools, record, release, pass);
  return undefined;
}

async function uninstallRecord(
  { uninstallRelease }: Tools,
  record: ReleaseRecord,
  { content, client, desired, isForced }: DesiredRelease,
  { signal }: DeployPass,
): Promise<void> {
  await uninstallRelease(record, {
    ...crdPolicy(content, client, signal),
    isForced,
    to: desired,
    flags: uninstallFlags(content),
  });
}

/** A new attempt, if any is left, follows after the time that follows every failure. */
async function remediate(
  { inventory }: Tools,
  release: DesiredRelease,
  by: "rollback" | "uninstall",
  run: () => Promise<void>,
): Promise<never> {
  const attempted = attemptedOf(release);
  try {
    await run();
  } catch (thrown) {
    const error = AppError.from(thrown);
    await recordRemediation(inventory, attempted, by, error);
    const failed = failedAttemptsAt(inventory, attempted);
    const cause = failed === undefined ? "" : ` after: ${failed.message}`;
    throw new AppError(agentErrors.HELM_FAILED, `${error.message}${cause}`, { cause: thrown });
  }
  await recordRemediation(inventory, attempted, by);
  const failed = failedAttemptsAt(inventory, attempted);
  const policy = policiesOf(release.content)[failed?.action ?? "upgrade"];
  if (isLast(policy, failed)) throw stopError("RetriesExceeded", failed);
  throw new AppError(
    agentErrors.HELM_FAILED,
    `${failed?.message ?? "the release failed"}; it was ${by === "rollback" ? "rolled back" : "uninstalled"}`,
  );
}

export function attemptedOf({ assignment, desired }: DesiredRelease): Attempted {
  const { owner, deploymentId } = assignment;
  return { deployment: owner.name, deploymentId, digest: desired.digest };
}

export function policiesOf(
  content: DeploymentContent,
): Readonly<Record<AttemptedAction, FailurePolicy>> {
  return {
    install: failurePolicy(content, "install"),
    upgrade: failurePolicy(content, "upgrade"),
  };
}

function unmetDependencies(
  { content }: DesiredRelease,
  pass: DeployPass,
): Promise<UnmetDependencies | undefined> {
  return pass.unmetDependencies(content);
}
