/** Everything that changes a release goes through here: it is deployed, or withdrawn. */

import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import {
  createApplyChartCrds,
  createCrdRetention,
  createStoredReleases,
} from "../../helm/index.ts";
import type { ReleaseAssignment } from "../../state/index.ts";
import { contentOf } from "../action/assigned-content.ts";
import type { DeployPass, DeployResult, InSync } from "../action/deploy-pass.ts";
import { createHelmRollback } from "../action/helm-rollback.ts";
import { createRunHelmTest } from "../action/helm-test.ts";
import { createHelmUninstall } from "../action/helm-uninstall.ts";
import { createHelmUpgrade } from "../action/helm-upgrade.ts";
import { inSync, isUnchanged } from "../action/in-sync.ts";
import { createLockTimes } from "../action/lock-times.ts";
import { createRecordGuard } from "../action/record-guard.ts";
import { createRecordsNamespace } from "../action/records-namespace.ts";
import { createUnservedObjects } from "../action/unserved-objects.ts";
import { isInSync } from "../state/release-state.ts";
import { DecisionLog } from "./decision-log.ts";
import { type DeployerDeps, type DriverTools, deploy } from "./deploy.ts";
import { observeReleases } from "./observe-releases.ts";
import { withdraw } from "./withdraw.ts";

export interface Deployer {
  /** Installs or upgrades. Throws an AppError if the desired state cannot be reached. */
  deploy(assignment: ReleaseAssignment, pass: DeployPass): Promise<DeployResult>;
  /** The release, if it is in its desired state already. Changes nothing. */
  installed(assignment: ReleaseAssignment, signal: AbortSignal): Promise<InSync | undefined>;
  /** Removes everything that was installed as this release. */
  withdraw(assignment: ReleaseAssignment, signal: AbortSignal): Promise<void>;
}

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
    decisions: new DecisionLog(deps.log),
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
