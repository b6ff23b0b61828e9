/**
 * Brings one deployment to its desired state: observe, decide, act, until there is no further action. Everything that
 * changes a release goes through here; what is to be done is decided in release/.
 */
import type { ReleaseInfo } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, unreachable } from "@flotilla/shared/errors";
import { archiveDigest } from "@flotilla/shared/source";
import type { Assignment } from "../assignment/index.ts";
import { type CrdRetention, createCrdRetention } from "../crds/index.ts";
import type { UnmetDependencies } from "../dependencies/index.ts";
import type { DownstreamResources, DownstreamTarget } from "../downstream/index.ts";
import { agentErrors } from "../errors/index.ts";
import {
  createStoredReleases,
  isLocked,
  type ReleaseKey,
  type ReleaseRecord,
  type StoredReleases,
  uninstallFlags,
} from "../helm/index.ts";
import type {
  ImpersonatedClient,
  ImpersonatedClients,
  WatchClient,
} from "../impersonation/index.ts";
import type { Inventory } from "../inventory/index.ts";
import { applyNamespaceMetadata } from "../namespace/index.ts";
import { manifestDigest, type OwnedObject } from "../record/index.ts";
import {
  type Action,
  actionFor,
  type Desired,
  determineState,
  isInSync,
} from "../release/index.ts";
import type { InputCollector, ReleaseInputs } from "../values/index.ts";
import { contentOf, crdPolicy } from "./assigned-content.ts";
import { claimInterruptedRun, runOf, takeOver } from "./claims.ts";
import { createLockTimes, type LockTimes, lockedError, lockTimeoutMs } from "./lock-times.ts";
import { observeReleases } from "./observe-releases.ts";
import { createRecordGuard } from "./record-guard.ts";
import { createUninstall, type Uninstall } from "./uninstall.ts";
import {
  createUpgrade,
  type DeployUntil,
  throwIfAborted,
  type Upgrade,
  type UpgradeDeps,
} from "./upgrade.ts";
import { withdraw } from "./withdraw.ts";

export interface DeployerDeps
  extends Omit<
    UpgradeDeps,
    "stored" | "crds" | "uninstall" | "downstream" | "guard" | "inventory"
  > {
  readonly inventory: Inventory;
  readonly clients: Pick<ImpersonatedClients, "clientFor" | "isRequired">;
  readonly inputs: InputCollector;
  readonly downstream: Pick<DownstreamResources, "apply" | "has" | "remove" | "forget">;
}

/** A release in its desired state. */
export interface InSync {
  readonly kind: "in-sync";
  readonly release: ReleaseInfo;
  readonly objects: readonly OwnedObject[];
  /** Identifies the manifest that has them. */
  readonly manifestDigest: string;
  readonly chartDigest?: string;
  /** Watches its objects. */
  readonly client: WatchClient;
}

export type DeployResult =
  | InSync
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" }
  | Blocked;

/** No action, because of unmet dependencies. */
interface Blocked {
  readonly kind: "blocked";
  readonly unmet: UnmetDependencies;
}

export interface DeployPass extends DeployUntil {
  /** The time of the retry after the last failure of this content, ms since 1970. */
  readonly retryAtMs: number | undefined;
  readonly unmetDependencies: (
    content: DeploymentContent,
  ) => Promise<UnmetDependencies | undefined>;
}

export interface Deployer {
  /** Installs or upgrades. Throws an AppError if the desired state cannot be reached. */
  deploy(assignment: Assignment, pass: DeployPass): Promise<DeployResult>;
  /** The release, if it is in its desired state already. Changes nothing. */
  installed(assignment: Assignment, signal: AbortSignal): Promise<InSync | undefined>;
  /** Removes everything that was installed for a deployment. */
  withdraw(assignment: Assignment, signal: AbortSignal): Promise<void>;
}

/** More than any sequence of states needs. If it is exceeded, another client changes the release as fast as the agent. */
const maxActions = 6;

/** The dependencies of all actions. */
interface Tools extends DeployerDeps {
  readonly stored: StoredReleases;
  readonly crds: CrdRetention;
  readonly uninstallRelease: Uninstall;
  readonly upgradeRelease: Upgrade;
  readonly lockTimes: LockTimes;
}

/** A deployment in its desired state in this cluster. */
interface DesiredRelease {
  readonly assignment: Assignment;
  readonly content: DeploymentContent;
  readonly desired: Desired;
  readonly isForced: boolean;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

export function createDeployer(deps: DeployerDeps): Deployer {
  const stored = createStoredReleases(deps);
  const crds = createCrdRetention({ ...deps, stored });
  const guard = createRecordGuard({ ...deps, stored });
  const uninstallRelease = createUninstall({ ...deps, stored, crds, guard });
  const uninstall = uninstallRelease;
  const upgradeRelease = createUpgrade({ ...deps, stored, crds, guard, uninstall });
  const lockTimes = createLockTimes(deps.clock);
  const tools: Tools = { ...deps, stored, crds, uninstallRelease, upgradeRelease, lockTimes };
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
  tools: Tools,
  assignment: Assignment,
  pass: DeployPass,
): Promise<DeployResult> {
  const { clients, assignments, releases, lockTimes, inventory, clock } = tools;
  const { owner } = assignment;
  const content = await contentOf(assignment);
  const isForced = isForcedBy(content, inventory.stoppedAt(owner.name));
  const client = await clients.clientFor(content.serviceAccount);
  await observeReleases(tools, assignment, { content, client, signal: pass.signal });
  const inputs = await collectInputs(tools, assignment, { content, client }, pass);
  if ("unmet" in inputs) return inputs;
  const { namespace, releaseName: name } = content;
  releases.follow(owner.name, { namespace, name });
  if (isLost(tools, owner, { namespace, name }))
    await takeOver({ ...tools, ...takeOverScope(client, namespace) }, assignment);
  for (let actions = 0; actions < maxActions; actions += 1) {
    throwIfAborted(pass.superseded);
    await claimInterruptedRun(tools, assignment, content);
    const latest = releases.latest(namespace, name);
    const isChanging =
      latest !== undefined && (isLocked(latest) || latest.status === "uninstalling");
    if (!isChanging) lockTimes.forget({ namespace, name });
    const desired: Desired = { owner, namespace, name, digest: await inputs.digest(latest) };
    const state = determineState(desired, {
      latest,
      owned: releases.ownedBy(owner.name),
      interruptedRun: runOf(inventory, owner.name, { namespace, name }),
      isAssigned: ({ name, uid }) => assignments.get(name)?.owner.uid === uid,
    });
    const action = actionFor(state, {
      retryAtMs: pass.retryAtMs,
      nowMs: clock.now(),
      unchangedMs: isChanging ? lockTimes.unchangedMs(latest) : 0,
      lockTimeoutMs: lockTimeoutMs(content),
      isForced,
    });
    const release = { assignment, content, desired, isForced, client, inputs };
    const result = await act(tools, action, release, pass);
    if (result !== undefined) return result;
  }
  throw new AppError(
    agentErrors.HELM_FAILED,
    `release ${namespace}/${name} is not in its desired state after ${maxActions} actions; something else changes it`,
  );
}

async function collectInputs(
  { inputs }: Tools,
  { owner }: Assignment,
  { content, client }: Pick<DesiredRelease, "content" | "client">,
  { signal, unmetDependencies }: DeployPass,
): Promise<ReleaseInputs | Blocked> {
  try {
    return await inputs.collect(content, { deployment: owner.name, client, signal });
  } catch (thrown) {
    // A dependency may create the missing source of values.
    const unmet = await unmetDependencies(content);
    if (unmet === undefined) throw thrown;
    return { kind: "blocked", unmet };
  }
}

/** Undefined: decide again. */
async function act(
  tools: Tools,
  action: Action,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const { stored, crds, downstream, inventory } = tools;
  const { content, desired, isForced, client } = release;
  const { signal } = pass;
  const policy = crdPolicy(content, client, signal);
  switch (action.kind) {
    case "none":
      if (!(await isUnchanged(tools, action.record))) {
        await inventory.disown(action.record, action.record.revision);
        return undefined;
      }
      await inventory.setStoppedAt(desired.owner.name, undefined);
      await inventory.endRun(desired.owner.name);
      await inventory.ensureStored(desired.owner.name);
      await downstream.apply(release.inputs.downstream, { ...targetOf(release), signal });
      await applyNamespaceMetadata(client, content, signal);
      await crds.reconcile(action.record, policy);
      return await inSync(tools, release, action.record);
    case "wait":
      return { kind: "wait", untilMs: action.untilMs, why: action.why };
    case "locked":
      throw lockedError(action.record, lockTimeoutMs(content));
    case "conflict":
      throw new AppError(
        agentErrors.RELEASE_CONFLICT,
        `release ${content.namespace}/${content.releaseName} belongs to deployment ${action.owner.name}; give one of the two another releaseName or namespace`,
      );
    case "adopt":
      await stored.adopt(client.rest, action.record, desired.owner);
      return undefined;
    case "unlock":
      await stored.unlock(client.rest, action.record);
      return undefined;
    case "uninstall":
    case "upgrade": {
      // A release that moves stays in its old namespace until it can be installed in the new one.
      const unmet = await pass.unmetDependencies(content);
      if (unmet !== undefined) return { kind: "blocked", unmet };
      if (action.kind === "upgrade")
        await tools.upgradeRelease({ ...release, revision: action.revision }, pass);
      else
        await tools.uninstallRelease(action.record, {
          ...policy,
          isForced,
          to: desired,
          flags: uninstallFlags(content),
        });
      return undefined;
    }
    default:
      return unreachable(action);
  }
}

async function installed(
  tools: Tools,
  assignment: Assignment,
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
    const collected = await inputs.collect(content, { deployment: owner.name, client, signal });
    const desired = { owner, namespace, name, digest: await collected.digest(latest) };
    if (!isInSync(latest, desired) || !(await isUnchanged(tools, latest))) return undefined;
    return await inSync(tools, { content, client }, latest);
  } catch (thrown) {
    // Missing inputs are not reported for a deployment that is not reconciled.
    if (isInputError(thrown)) return undefined;
    throw thrown;
  }
}

/** An account finds only what is in the namespace of its release. */
function takeOverScope({ watch }: ImpersonatedClient, namespace: string) {
  return { rest: watch.rest, namespace: watch.isPerNamespace ? namespace : undefined };
}

/** Whether a release has the labels of the deployment, which was never installed by the inventory: the agent has lost its Secrets. */
function isLost(
  { inventory, releases }: Tools,
  owner: Assignment["owner"],
  release: ReleaseKey,
): boolean {
  if (inventory.knows(owner)) return false;
  const { name, uid } = owner;
  const history = releases.history(release.namespace, release.name);
  return history.some(({ labelled }) => labelled?.name === name && labelled.uid === uid);
}

/** Whether a record is still the one that the agent created. */
async function isUnchanged({ stored, inventory }: Tools, record: ReleaseRecord): Promise<boolean> {
  const release = await stored.read(record);
  return inventory.revisionOf(record, record.revision)?.content === release.content;
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
  { inventory }: Tools,
  assignment: Assignment,
  thrown: unknown,
): Promise<void> {
  const { code } = AppError.from(thrown);
  const { name } = assignment.owner;
  if (!stops.some((kind) => kind.code === code) || inventory.stoppedAt(name) !== undefined) return;
  const { forceSyncGeneration = 0 } = await contentOf(assignment);
  await inventory.setStoppedAt(name, forceSyncGeneration);
}

const stops = [agentErrors.RELEASE_LOCKED, agentErrors.RELEASE_NOT_OURS];

async function inSync(
  { stored, records }: Pick<Tools, "stored" | "records">,
  { content, client }: Pick<DesiredRelease, "content" | "client">,
  record: ReleaseRecord,
): Promise<InSync> {
  const release = await stored.read(record);
  const { namespace, name, revision, chartVersion, appVersion } = release;
  const chartDigest = record.chartDigest ?? archiveDigest(content.pin);
  return {
    kind: "in-sync",
    release: { namespace, name, revision, chartVersion, appVersion },
    objects: await records.manifest(release, "objects"),
    manifestDigest: manifestDigest(release),
    ...(chartDigest !== undefined && { chartDigest }),
    client: client.watch,
  };
}

function targetOf({ desired, client }: DesiredRelease): Omit<DownstreamTarget, "signal"> {
  return { owner: desired.owner.name, namespace: desired.namespace, client };
}

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
