/**
 * Brings one deployment to its desired state: observe, decide, act, until there is no further action. Everything that
 * changes a release goes through here; what is to be done is decided in release/next-action.ts.
 */
import type { ReleaseInfo } from "@flotilla/proto";
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import { AppError, unreachable } from "@flotilla/shared/errors";
import { archiveDigest } from "@flotilla/shared/source";
import type { Assignment } from "../assignment/index.ts";
import { type CrdPolicy, type CrdRetention, createCrdRetention } from "../crds/index.ts";
import type { UnmetDependencies } from "../dependencies/index.ts";
import type { DownstreamResources, DownstreamTarget } from "../downstream/index.ts";
import { agentErrors } from "../errors/index.ts";
import {
  createStoredReleases,
  isLocked,
  type ReleaseRecord,
  type StoredReleases,
} from "../helm/index.ts";
import type { ImpersonatedClient, ImpersonatedClients } from "../impersonation/index.ts";
import { applyNamespaceMetadata } from "../namespace/index.ts";
import { type Action, type Desired, isInSync, nextAction } from "../release/index.ts";
import type { InputCollector, ReleaseInputs } from "../values/index.ts";
import { createUninstall, type Uninstall } from "./uninstall.ts";
import {
  createUpgrade,
  type DeployUntil,
  throwIfAborted,
  type Upgrade,
  type UpgradeDeps,
} from "./upgrade.ts";

export interface DeployerDeps
  extends Omit<UpgradeDeps, "stored" | "crds" | "uninstall" | "downstream"> {
  readonly clients: Pick<ImpersonatedClients, "clientFor">;
  readonly inputs: InputCollector;
  readonly downstream: Pick<DownstreamResources, "apply" | "has" | "remove">;
}

/** A release in its desired state. */
export interface InSync {
  readonly kind: "in-sync";
  readonly release: ReleaseInfo;
  readonly manifest: string;
  readonly chartDigest?: string;
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
}

/** A deployment in its desired state in this cluster. */
interface DesiredRelease {
  readonly content: DeploymentContent;
  readonly desired: Desired;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

export function createDeployer(deps: DeployerDeps): Deployer {
  const stored = createStoredReleases(deps);
  const crds = createCrdRetention({ ...deps, stored });
  const uninstallRelease = createUninstall({ ...deps, stored, crds });
  const upgradeRelease = createUpgrade({ ...deps, stored, crds, uninstall: uninstallRelease });
  const tools: Tools = { ...deps, stored, crds, uninstallRelease, upgradeRelease };
  return {
    deploy: (assignment, pass) => deploy(tools, assignment, pass),
    installed: (assignment, signal) => installed(tools, assignment, signal),
    withdraw: (assignment, signal) => withdraw(tools, assignment, signal),
  };
}

async function deploy(
  tools: Tools,
  assignment: Assignment,
  pass: DeployPass,
): Promise<DeployResult> {
  const { clients, assignments, releases, clock } = tools;
  const { owner } = assignment;
  const content = await contentOf(assignment);
  const client = await clients.clientFor(content.serviceAccount);
  const inputs = await collectInputs(tools, assignment, { content, client }, pass);
  if ("unmet" in inputs) return inputs;
  const { namespace, releaseName: name } = content;
  for (let actions = 0; actions < maxActions; actions += 1) {
    throwIfAborted(pass.superseded);
    const latest = releases.latest(namespace, name);
    const desired: Desired = { owner, namespace, name, digest: await inputs.digest(latest) };
    const entry = tools.journal.get(owner.name);
    const action = nextAction(desired, {
      latest,
      owned: releases.ownedBy(owner.name),
      interruptedRun: entry?.namespace === namespace && entry.release === name ? entry : undefined,
      isAssigned: ({ name, uid }) => assignments.get(name)?.owner.uid === uid,
      retryAtMs: pass.retryAtMs,
      nowMs: clock.now(),
    });
    const result = await act(tools, action, { content, desired, client, inputs }, pass);
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
  const { stored, crds, downstream, journal } = tools;
  const { content, desired, client } = release;
  const { signal } = pass;
  const policy = crdPolicy(content, client, signal);
  switch (action.kind) {
    case "none":
      await journal.end(desired.owner.name);
      await downstream.apply(release.inputs.downstream, { ...targetOf(release), signal });
      await applyNamespaceMetadata(client, content, signal);
      await crds.reconcile(action.record, policy);
      return await inSync(stored, content, action.record);
    case "wait":
      return { kind: "wait", untilMs: action.untilMs, why: action.why };
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
      else await tools.uninstallRelease(action.record, { ...policy, to: desired });
      return undefined;
    }
    default:
      return unreachable(action);
  }
}

async function installed(
  { clients, inputs, releases, stored }: Tools,
  assignment: Assignment,
  signal: AbortSignal,
): Promise<InSync | undefined> {
  const content = await contentOf(assignment);
  const { owner } = assignment;
  const { namespace, releaseName: name } = content;
  const latest = releases.latest(namespace, name);
  if (latest === undefined) return undefined;
  try {
    const client = await clients.clientFor(content.serviceAccount);
    const collected = await inputs.collect(content, { deployment: owner.name, client, signal });
    const desired = { owner, namespace, name, digest: await collected.digest(latest) };
    return isInSync(latest, desired) ? await inSync(stored, content, latest) : undefined;
  } catch (thrown) {
    // Missing inputs are not reported for a deployment that is not reconciled.
    if (isInputError(thrown)) return undefined;
    throw thrown;
  }
}

async function withdraw(tools: Tools, assignment: Assignment, signal: AbortSignal): Promise<void> {
  const { clients, releases, downstream, stored, inputs, journal } = tools;
  const { owner } = assignment;
  const content = await contentOf(assignment);
  const { keepResources, serviceAccount } = content;
  const owned = releases.ownedBy(owner.name).filter((record) => record.owner?.uid === owner.uid);
  // Without an installed release no account is needed.
  if (owned.length > 0 || downstream.has(owner.name)) {
    const client = await clients.clientFor(serviceAccount);
    for (const record of owned) {
      if (isLocked(record)) await stored.unlock(client.rest, record);
      if (keepResources) await stored.deleteHistory(client.rest, record, signal);
      else await tools.uninstallRelease(record, crdPolicy(content, client, signal));
    }
    if (!keepResources) await downstream.remove(owner.name, client, signal);
  }
  inputs.forget(owner.name);
  await journal.end(owner.name);
}

async function inSync(
  stored: StoredReleases,
  content: DeploymentContent,
  record: ReleaseRecord,
): Promise<InSync> {
  const { namespace, name, revision, chartVersion, appVersion, manifest } =
    await stored.read(record);
  const chartDigest = record.chartDigest ?? archiveDigest(content.pin);
  return {
    kind: "in-sync",
    release: { namespace, name, revision, chartVersion, appVersion },
    manifest,
    ...(chartDigest !== undefined && { chartDigest }),
  };
}

async function contentOf({ deploymentId, content }: Assignment): Promise<DeploymentContent> {
  return await unpackContent({ deploymentId, bytes: content });
}

function crdPolicy(
  { deleteCRDResources }: DeploymentContent,
  client: ImpersonatedClient,
  signal: AbortSignal,
): CrdPolicy {
  return { keep: deleteCRDResources !== true, client, signal };
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
  agentErrors.SERVICE_ACCOUNT_DENIED,
];
