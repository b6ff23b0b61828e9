/**
 * Brings one release to its desired state: observe, decide, act, until there is no further action. Everything that
 * changes a release goes through here; what is to be done is decided in release/.
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import {
  act,
  attemptedOf,
  type Blocked,
  claimInterruptedRun,
  contentOf,
  createHelmRollback,
  createHelmUninstall,
  createHelmUpgrade,
  createLockTimes,
  createRecordGuard,
  createRecordsNamespace,
  createRunHelmTest,
  createUnservedObjects,
  type DeployPass,
  type DeployResult,
  type DesiredRelease,
  failedAttemptsAt,
  type InSync,
  inSync,
  isUnchanged,
  type LockTimes,
  lockTimeoutMs,
  policiesOf,
  runOf,
  type Tools,
  takeOver,
  throwIfAborted,
  type UpgradeDeps,
} from "../action/index.ts";
import type { ReleaseAssignment, ReleaseAssignments, ReleaseOwner } from "../assignment/index.ts";
import { createApplyChartCrds, createCrdRetention, type WithDefinitions } from "../crds/index.ts";
import type { DownstreamResources } from "../downstream/index.ts";
import { changedFields } from "../drift/index.ts";
import { agentErrors } from "../errors/index.ts";
import { createStoredReleases, isLocked, type ReleaseKey, takesOwnership } from "../helm/index.ts";
import type { ImpersonatedClient, ImpersonatedClients } from "../impersonation/index.ts";
import type {
  AcceptedRequests,
  Attempts,
  Inventory,
  InventoryRevision,
} from "../inventory/index.ts";
import { checkNamespace } from "../namespace/index.ts";
import { isSameContent } from "../record/index.ts";
import {
  actionFor,
  type Desired,
  determineState,
  isInSync,
  type ObservedDrift,
  type ReadinessDeadline,
  type ReleaseState,
  reasonsOf,
} from "../release/index.ts";
import type { InputCollector, ReleaseInputs } from "../values/index.ts";
import { logDecision } from "./log-decision.ts";
import { observeReleases } from "./observe-releases.ts";
import { rollbackTarget, testResult } from "./rollback-target.ts";
import { openRequest } from "./user-requests.ts";
import { withdraw } from "./withdraw.ts";

export interface DeployerDeps
  extends Omit<
    UpgradeDeps,
    | "stored"
    | "crds"
    | "applyChartCrds"
    | "uninstall"
    | "downstream"
    | "guard"
    | "inventory"
    | "attempts"
  > {
  readonly assigned: Pick<ReleaseAssignments, "get">;
  readonly inventory: Inventory;
  readonly attempts: Attempts;
  readonly requests: Pick<AcceptedRequests, "handledRequestOf" | "requestOf">;
  readonly withDefinitions: WithDefinitions;
  readonly clients: Pick<ImpersonatedClients, "clientFor" | "isGone" | "isRequired">;
  readonly drift: Tools["drift"];
  readonly inputs: InputCollector;
  readonly downstream: Pick<DownstreamResources, "apply" | "has" | "remove" | "forget">;
}

export interface Deployer {
  /** Installs or upgrades. Throws an AppError if the desired state cannot be reached. */
  deploy(assignment: ReleaseAssignment, pass: DeployPass): Promise<DeployResult>;
  /** The release, if it is in its desired state already. Changes nothing. */
  installed(assignment: ReleaseAssignment, signal: AbortSignal): Promise<InSync | undefined>;
  /** Removes everything that was installed as this release. */
  withdraw(assignment: ReleaseAssignment, signal: AbortSignal): Promise<void>;
}

/** The dependencies of the driver, and of all actions. */
interface DriverTools extends DeployerDeps, Omit<Tools, keyof DeployerDeps> {
  readonly lockTimes: LockTimes;
}

/** More than any sequence of states needs. If it is exceeded, another client changes the release as fast as the agent. */
const maxActions = 6;

export function createDeployer(deps: DeployerDeps): Deployer {
  const stored = createStoredReleases(deps);
  const crds = createCrdRetention({ ...deps, stored });
  const guard = createRecordGuard({ ...deps, stored });
  const unserved = createUnservedObjects({ ...deps, stored });
  const uninstallRelease = createHelmUninstall({ ...deps, stored, crds, guard, unserved });
  const uninstall = uninstallRelease;
  const applyChartCrds = createApplyChartCrds(deps);
  const upgradeRelease = createHelmUpgrade({
    ...deps,
    stored,
    crds,
    guard,
    uninstall,
    applyChartCrds,
  });
  const lockTimes = createLockTimes(deps.clock);
  const rollBack = createHelmRollback({ ...deps, stored, crds, guard });
  const runTests = createRunHelmTest({ ...deps, stored, guard });
  const recordsNamespace = createRecordsNamespace(deps);
  const tools: DriverTools = {
    ...deps,
    stored,
    crds,
    uninstallRelease,
    upgradeRelease,
    rollBack,
    runTests,
    lockTimes,
    recordsNamespace,
  };
  return {
    async deploy(assignment, pass) {
      try {
        return await deploy(tools, assignment, pass);
      } catch (thrown) {
        await rememberStop(tools, assignment, thrown);
        throw thrown;
      }
    },
    installed: (assignment, signal) => installed(tools, assignment, signal),
    withdraw: (assignment, signal) => withdraw(tools, assignment, signal),
  };
}

async function deploy(
  tools: DriverTools,
  assignment: ReleaseAssignment,
  pass: DeployPass,
): Promise<DeployResult> {
  const { clients, assigned, releases, lockTimes, inventory, attempts, drift, clock } = tools;
  const { owner } = assignment;
  const content = await contentOf(assignment);
  const isForced =
    isUpgradeRequested(tools, assignment) || isForcedBy(content, attempts.stoppedAt(owner.id));
  const client = await clients.clientFor(content.serviceAccount);
  await observeReleases(tools, assignment, { content, client, signal: pass.signal });
  await checkNamespace(client, content.namespace, content.allowedNamespaces, pass.signal);
  const inputs = await collectInputs(tools, assignment, { content, client }, pass);
  if ("unmet" in inputs) return inputs;
  const { namespace, releaseName: name } = content;
  releases.follow(owner.id, { namespace, name });
  if (isLost(tools, owner, { namespace, name }))
    await takeOver({ ...tools, ...takeOverScope(client, namespace) }, assignment);
  await tools.recordsNamespace.copy({ assignment, content, client, signal: pass.signal });
  const takenFields = isForced ? changedFields(drift.driftOf(owner.id)) : [];
  for (let actions = 0; actions < maxActions; actions += 1) {
    throwIfAborted(pass.superseded);
    await claimInterruptedRun(tools, assignment, content);
    const latest = releases.latest(namespace, name);
    const isChanging =
      latest !== undefined && (isLocked(latest) || latest.status === "uninstalling");
    if (!isChanging) lockTimes.forget({ namespace, name });
    const digest = await inputs.digest(latest);
    const desired: Desired = { owner, namespace, name, digest, tests: testsOf(content) };
    const correctionRequest = () => correctionRequestOf(tools, assignment);
    const release = {
      assignment,
      content,
      desired,
      isForced,
      takenFields,
      correctionRequest,
      client,
      inputs,
    };
    const state = determineState(desired, {
      latest,
      owned: releases.ownedBy(owner.id),
      interruptedRun: runOf(attempts, owner.id, { namespace, name }),
      deadline: deadlineOf(attempts, owner.id, { namespace, name }),
      testsOf: (record) => testResult(inventory.revisionOf(record, record.revision)?.tests),
      drift: driftOf(tools, owner.id),
      isAssigned: ({ id, uid }) => assigned.get(id)?.owner.uid === uid,
    });
    const action = actionFor(state, {
      retryAtMs: pass.retryAtMs,
      nowMs: clock.now(),
      unchangedMs: isChanging ? lockTimes.unchangedMs(latest) : 0,
      lockTimeoutMs: lockTimeoutMs(content),
      isForced,
      mustUpgrade: isUpgradeRequested(tools, assignment),
      mustCorrect: correctionRequest() !== undefined,
      policies: policiesOf(content),
      failed: failedAttemptsAt(attempts, attemptedOf(release)),
      rollbackTarget: await rollbackTarget(tools, state, release),
      takesOwnership: takesOwnership(content),
      sameRevision: await sameRevision(tools, state, desired),
    });
    const isUpgrade = action.kind === "upgrade";
    const unmet = isUpgrade ? await pass.unmetDependencies(content) : undefined;
    // Nothing is decided yet: it is asked again with each change of another deployment.
    if (unmet !== undefined) return { kind: "blocked", unmet };
    const newest = latest && inventory.revisionOf(latest, latest.revision);
    const reasons = reasonsOf(state, {
      desired: isUpgrade ? (await inputs.final()).parts : undefined,
      installed: newest?.parts,
      isRolledBack: newest?.action === "rollback",
      isRequested: isUpgrade && isUpgradeRequested(tools, assignment),
    });
    logDecision(tools.log, desired, { state, reasons, action });
    const result = await act(tools, action, { ...release, reasons }, pass);
    if (result !== undefined) return result;
  }
  throw new AppError(
    agentErrors.HELM_FAILED,
    `release ${namespace}/${name} is not in its desired state after ${maxActions} actions; something else changes it`,
  );
}

async function collectInputs(
  { inputs }: DriverTools,
  { owner }: ReleaseAssignment,
  { content, client }: Pick<DesiredRelease, "content" | "client">,
  { signal, unmetDependencies }: DeployPass,
): Promise<ReleaseInputs | Blocked> {
  try {
    return await inputs.collect(content, { id: owner.id, client, signal });
  } catch (thrown) {
    // A dependency may create the missing source of values.
    const unmet = await unmetDependencies(content);
    if (unmet === undefined) throw thrown;
    return { kind: "blocked", unmet };
  }
}

async function installed(
  tools: DriverTools,
  assignment: ReleaseAssignment,
  signal: AbortSignal,
): Promise<InSync | undefined> {
  const { clients, inputs, releases } = tools;
  const content = await contentOf(assignment);
  const { owner } = assignment;
  const { namespace, releaseName: name } = content;
  // Without a client nothing is known if impersonation is required.
  const isUnknown = releases.latest(namespace, name) === undefined;
  if (isUnknown && !clients.isRequired) return undefined;
  try {
    const client = await clients.clientFor(content.serviceAccount);
    await observeReleases(tools, assignment, { content, client, signal });
    const latest = releases.latest(namespace, name);
    if (latest === undefined) return undefined;
    const collected = await inputs.collect(content, { id: owner.id, client, signal });
    const desired = { owner, namespace, name, digest: await collected.digest(latest) };
    if (!isInSync(latest, desired) || !(await isUnchanged(tools, latest))) return undefined;
    return await inSync(tools, { content, client }, latest);
  } catch (thrown) {
    // Missing inputs are not reported for a deployment that is not reconciled.
    if (isInputError(thrown)) return undefined;
    throw thrown;
  }
}

/** While its objects were not compared, a release has no drift. */
function driftOf({ drift }: DriverTools, id: string): ObservedDrift | undefined {
  const found = drift.driftOf(id);
  return found === undefined || found.objects.length === 0
    ? undefined
    : { corrects: found.corrects };
}

/** Until its run begins, and again if that was interrupted together with the agent. */
function isUpgradeRequested(
  { attempts, requests }: Pick<DeployerDeps, "attempts" | "requests">,
  { owner, request }: ReleaseAssignment,
): boolean {
  if (request?.force !== true) return false;
  const { token } = request;
  const isInterrupted =
    attempts.runOf(owner.id)?.request === token && openRequest(requests, owner.id) === token;
  return isInterrupted || requests.handledRequestOf(owner.id) !== token;
}

/** Once all objects were compared since the request, and until they were corrected. */
function correctionRequestOf(
  { requests, drift }: DriverTools,
  { owner, request }: ReleaseAssignment,
): string | undefined {
  if (request?.correctDrift !== true || openRequest(requests, owner.id) !== request.token)
    return undefined;
  const compared = drift.comparedFor(owner.id, request.token);
  return compared?.isCorrected === false ? request.token : undefined;
}

function testsOf({ actions }: DeploymentContent): Desired["tests"] {
  if (actions?.test?.enable !== true) return undefined;
  return actions.test.ignoreFailures === true ? "ignored" : "required";
}

function deadlineOf(
  attempts: Pick<Attempts, "deadlineOf">,
  id: string,
  { namespace, name }: ReleaseKey,
): ReadinessDeadline | undefined {
  const deadline = attempts.deadlineOf(id);
  return deadline?.namespace === namespace && deadline.release === name ? deadline : undefined;
}

/** One of the agent's that a release is as again, after somebody has upgraded it or rolled it back by hand. */
async function sameRevision(
  { inventory, stored }: DriverTools,
  state: ReleaseState,
  { owner, digest }: Desired,
): Promise<InventoryRevision | undefined> {
  if (state.kind !== "unmanaged" || state.record.status !== "deployed") return undefined;
  const { namespace, name } = state.record;
  const isRelease = (each: ReleaseKey) => each.namespace === namespace && each.name === name;
  const known = inventory.releasesOf(owner.id).find(isRelease)?.revisions ?? [];
  const desired = known.filter((each) => each.digest === digest);
  if (desired.length === 0) return undefined;
  const release = await stored.read(state.record);
  return desired.find(({ content }) => isSameContent(content, release));
}

/** An account finds only what is in the namespace of its release. */
function takeOverScope({ watch }: ImpersonatedClient, namespace: string) {
  return { rest: watch.rest, namespace: watch.isPerNamespace ? namespace : undefined };
}

/** Whether a release has the labels of the deployment, which was never installed by the inventory: the agent has lost its Secrets. */
function isLost(
  { inventory, releases }: DriverTools,
  owner: ReleaseOwner,
  release: ReleaseKey,
): boolean {
  if (inventory.knows(owner)) return false;
  const { name, uid } = owner;
  const history = releases.history(release.namespace, release.name);
  return history.some(({ labelled }) => labelled?.name === name && labelled.uid === uid);
}

/** Another value of forceSyncGeneration than when the release was stopped is a request to continue. */
function isForcedBy(
  { forceSyncGeneration = 0 }: DeploymentContent,
  stoppedAt: number | undefined,
): boolean {
  return stoppedAt !== undefined && stoppedAt !== forceSyncGeneration;
}

/** So that a later request to continue is recognized, also after a restart. */
async function rememberStop(
  { attempts }: DriverTools,
  assignment: ReleaseAssignment,
  thrown: unknown,
): Promise<void> {
  const { code } = AppError.from(thrown);
  const { id } = assignment.owner;
  if (!stops.some((kind) => kind.code === code) || attempts.stoppedAt(id) !== undefined) return;
  const { forceSyncGeneration = 0 } = await contentOf(assignment);
  await attempts.setStoppedAt(id, forceSyncGeneration);
}

const stops = [agentErrors.RELEASE_LOCKED, agentErrors.RELEASE_NOT_OURS];

function isInputError(thrown: unknown): boolean {
  const { code } = AppError.from(thrown);
  return inputErrors.some((kind) => kind.code === code);
}

const inputErrors = [
  agentErrors.REFERENCED_OBJECT_PENDING,
  agentErrors.REFERENCED_OBJECT_NOT_FOUND,
  agentErrors.VALUES_SOURCE_MISSING,
  agentErrors.VALUES_SOURCE_INVALID,
  agentErrors.VALUES_TEMPLATE_FAILED,
  agentErrors.SERVICE_ACCOUNT_MISSING,
  agentErrors.SERVICE_ACCOUNT_REQUIRED,
  agentErrors.SERVICE_ACCOUNT_DENIED,
];
