/**
 * Brings one release to its desired state: observe, decide, act, until there is no further action. What is to be done is decided in
 * release/.
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient, ImpersonatedClients } from "../../base/index.ts";
import {
  checkNamespace,
  isLocked,
  isSameContent,
  type ReleaseKey,
  type ReleaseRecord,
  takesOwnership,
  type WithDefinitions,
} from "../../helm/index.ts";
import type { DownstreamResources, InputCollector, ReleaseInputs } from "../../inputs/index.ts";
import { changedFields } from "../../observe/index.ts";
import type {
  AcceptedRequests,
  Attempts,
  Inventory,
  InventoryRevision,
  ReleaseAssignment,
  ReleaseAssignments,
  ReleaseOwner,
} from "../../state/index.ts";
import { act } from "../action/act.ts";
import { contentOf } from "../action/assigned-content.ts";
import { claimInterruptedRun, runOf, takeOver } from "../action/claims.ts";
import type { Blocked, DeployPass, DeployResult } from "../action/deploy-pass.ts";
import { failedAttemptsAt } from "../action/failed-attempts.ts";
import { type LockTimes, lockTimeoutMs } from "../action/lock-times.ts";
import type { UpgradeDeps } from "../action/prepare-upgrade.ts";
import { throwIfAborted } from "../action/revision.ts";
import { attemptedOf, type DesiredRelease, policiesOf, type Tools } from "../action/tools.ts";
import { type PlanNow, verifyPlan } from "../action/verify-plan.ts";
import { actionFor, type Circumstances } from "../state/action.ts";
import { reasonsOf } from "../state/release-reason.ts";
import {
  type Desired,
  determineState,
  type Observed,
  type ObservedDrift,
  type ReadinessDeadline,
  type ReleaseState,
} from "../state/release-state.ts";
import { openRequest } from "./annotation-requests.ts";
import type { DecisionLog } from "./decision-log.ts";
import { observeReleases } from "./observe-releases.ts";
import { rollbackTarget, testResult } from "./rollback-target.ts";

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
  readonly planNow: PlanNow;
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

/** The dependencies of the driver, and of all actions. */
export interface DriverTools extends DeployerDeps, Omit<Tools, keyof DeployerDeps> {
  readonly lockTimes: LockTimes;
  readonly decisions: DecisionLog;
}

/** More than any sequence of states needs. If it is exceeded, another client changes the release as fast as the agent. */
const maxActions = 6;

/** What is brought to its desired state in one pass. */
type Target = Omit<DesiredRelease, "desired" | "reasons" | "correctionRequest">;

/** Installs or upgrades. Throws an AppError if the desired state cannot be reached. */
export async function deploy(
  tools: DriverTools,
  assignment: ReleaseAssignment,
  pass: DeployPass,
): Promise<DeployResult> {
  const { clients, releases, attempts, drift } = tools;
  const { owner } = assignment;
  const { signal } = pass;
  const content = await contentOf(assignment);
  const isForced =
    isUpgradeRequested(tools, assignment) || isForcedBy(content, attempts.stoppedAt(owner.id));
  const client = await clients.clientFor(content.serviceAccount);
  await observeReleases(tools, assignment, { content, client, signal });
  await checkNamespace(client, content.namespace, content.allowedNamespaces, signal);
  const inputs = await collectInputs(tools, assignment, { content, client }, pass);
  if ("unmet" in inputs) return inputs;
  const { namespace, releaseName: name } = content;
  releases.follow(owner.id, { namespace, name });
  if (isLost(tools, owner, { namespace, name }))
    await takeOver({ ...tools, ...takeOverScope(client, namespace) }, assignment);
  await tools.recordsNamespace.copy({ assignment, content, client, signal });
  const takenFields = isForced ? changedFields(drift.driftOf(owner.id)) : [];
  const target = { assignment, content, client, inputs, isForced, takenFields };
  for (let actions = 0; actions < maxActions; actions += 1) {
    const result = await step(tools, target, pass);
    if (result !== undefined) return result;
  }
  throw new AppError(
    agentErrors.HELM_FAILED,
    `release ${namespace}/${name} is not in its desired state after ${maxActions} actions; something else changes it`,
  );
}

/** Observes, decides and acts once. Undefined: the next action is to be decided. */
async function step(
  tools: DriverTools,
  target: Target,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const { releases, lockTimes, inventory } = tools;
  const { assignment, content, inputs } = target;
  const { owner } = assignment;
  const { namespace, releaseName: name } = content;
  throwIfAborted(pass.superseded);
  await claimInterruptedRun(tools, assignment, content);
  const latest = releases.latest(namespace, name);
  if (!isChanging(latest)) lockTimes.forget({ namespace, name });
  const digest = await inputs.digest(latest);
  const desired: Desired = { owner, namespace, name, digest, tests: testsOf(content) };
  const correctionRequest = () => correctionRequestOf(tools, assignment);
  const release = { ...target, desired, correctionRequest };
  const state = determineState(desired, observed(tools, desired, latest));
  const action = actionFor(state, await circumstances(tools, { state, latest }, release, pass));
  const isUpgrade = action.kind === "upgrade";
  const unmet = isUpgrade ? await pass.unmetDependencies(content) : undefined;
  const newest = latest && inventory.revisionOf(latest, latest.revision);
  const reasons = reasonsOf(state, {
    desired: isUpgrade ? (await inputs.final()).parts : undefined,
    installed: newest?.parts,
    isRolledBack: newest?.action === "rollback",
    isRequested: isUpgrade && isUpgradeRequested(tools, assignment),
  });
  tools.decisions.decided(owner, desired, {
    state: state.kind,
    reasons,
    ...(unmet === undefined
      ? { action: action.kind }
      : { action: "blocked", waitsFor: unmet.names }),
  });
  // It is decided again with each change of another deployment.
  if (unmet !== undefined) return { kind: "blocked", unmet };
  await verifyPlan(tools, { action, assignment }, pass);
  return await act(tools, action, { ...release, reasons }, pass);
}

function observed(
  tools: DriverTools,
  { owner, namespace, name }: Desired,
  latest: ReleaseRecord | undefined,
): Observed {
  const { assigned, releases, inventory, attempts } = tools;
  return {
    latest,
    owned: releases.ownedBy(owner.id),
    interruptedRun: runOf(attempts, owner.id, { namespace, name }),
    deadline: deadlineOf(attempts, owner.id, { namespace, name }),
    testsOf: (record) => testResult(inventory.revisionOf(record, record.revision)?.tests),
    drift: driftOf(tools, owner.id),
    isAssigned: ({ id, uid }) => assigned.get(id)?.owner.uid === uid,
  };
}

async function circumstances(
  tools: DriverTools,
  { state, latest }: { readonly state: ReleaseState; readonly latest: ReleaseRecord | undefined },
  release: Omit<DesiredRelease, "reasons">,
  { retryAtMs }: DeployPass,
): Promise<Circumstances> {
  const { attempts, lockTimes, clock } = tools;
  const { assignment, content, desired, isForced, correctionRequest } = release;
  return {
    retryAtMs,
    nowMs: clock.now(),
    unchangedMs: isChanging(latest) ? lockTimes.unchangedMs(latest) : 0,
    lockTimeoutMs: lockTimeoutMs(content),
    isForced,
    mustUpgrade: isUpgradeRequested(tools, assignment),
    mustCorrect: correctionRequest() !== undefined,
    policies: policiesOf(content),
    failed: failedAttemptsAt(attempts, attemptedOf(release)),
    rollbackTarget: await rollbackTarget(tools, state, release),
    takesOwnership: takesOwnership(content),
    sameRevision: await sameRevision(tools, state, desired),
  };
}

/** Helm changes the release now, or was interrupted. */
function isChanging(latest: ReleaseRecord | undefined): latest is ReleaseRecord {
  return latest !== undefined && (isLocked(latest) || latest.status === "uninstalling");
}

async function collectInputs(
  { inputs, decisions }: DriverTools,
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
    const release = { namespace: content.namespace, name: content.releaseName };
    decisions.decided(owner, release, {
      state: "unknown",
      reasons: ["InputsMissing"],
      action: "blocked",
      waitsFor: unmet.names,
    });
    return { kind: "blocked", unmet };
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
