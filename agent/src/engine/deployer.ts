/**
 * Makes one deployment what its assignment says: observe, decide, act, and again until nothing is left to do. All that
 * touches Helm is here; what is to be done is decided in release/next-action.ts.
 */
import type { ReleaseInfo } from "@flotilla/proto/messages.ts";
import type { ChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import { archiveDigest } from "@flotilla/shared/charts/pin.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import {
  type DeploymentContent,
  releaseDigest,
  unpackContent,
} from "@flotilla/shared/content/content.ts";
import { AppError, unreachable } from "@flotilla/shared/errors/app-error.ts";
import { secrets } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";
import { agentErrors } from "../errors.ts";
import { uninstallArgs } from "../helm/commands.ts";
import { isLocked, type ReleaseRecord, recordSecretName } from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";
import { complaintOf, type RunHelm } from "../helm/run-helm.ts";
import {
  type Action,
  type Desired,
  type InterruptedRun,
  isInSync,
  nextAction,
} from "../release/next-action.ts";
import type { Facts } from "../supply/facts.ts";
import type { Supplies } from "../supply/supplies.ts";
import type { RunNotes } from "./run-notes.ts";
import { createStoredReleases } from "./stored-releases.ts";
import { createUpgrade, type DeployUntil, refuseWhenOver } from "./upgrade.ts";

export interface DeployerDeps {
  readonly rest: KubeRest;
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly charts: ChartCache;
  readonly supplies: Pick<Supplies, "get">;
  readonly facts: Pick<Facts, "get">;
  readonly runHelm: RunHelm;
  readonly notes: RunNotes;
  readonly clock: Clock;
  readonly log: Log;
  /** See UpgradeDeps. */
  readonly patienceMs?: number;
}

/** A release as it is wanted. */
export interface InSync {
  readonly kind: "in-sync";
  readonly release: ReleaseInfo;
  readonly manifest: string;
  readonly chartDigest?: string;
}

/** What came of one pass. */
export type Deployed =
  | InSync
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" };

export interface Deployer {
  /** Installs or upgrades. Throws an AppError when what is wanted could not be done. */
  deploy(
    held: HeldAssignment,
    retryAtMs: number | undefined,
    until: DeployUntil,
  ): Promise<Deployed>;
  /** What is installed already of what is wanted; changes nothing. */
  installed(held: HeldAssignment): Promise<InSync | undefined>;
  /** Removes everything that was installed for a deployment. */
  withdraw(held: HeldAssignment, signal: AbortSignal): Promise<void>;
}

/** More actions than any sequence of states needs; beyond it something is changing the release as fast as we do. */
const maxActions = 6;

export function createDeployer(deps: DeployerDeps): Deployer {
  const { rest, assignments, releases, runHelm, notes, clock } = deps;
  const stored = createStoredReleases(deps);
  const upgrade = createUpgrade({ ...deps, stored });

  async function deploy(
    held: HeldAssignment,
    retryAtMs: number | undefined,
    until: DeployUntil,
  ): Promise<Deployed> {
    const { owner } = held;
    const { content, desired } = await wantedOf(held);
    for (let actions = 0; actions < maxActions; actions += 1) {
      refuseWhenOver(until.superseded);
      const action = nextAction(desired, {
        latest: releases.latest(desired.namespace, desired.name),
        owned: releases.ownedBy(owner.name),
        interrupted: interruptedRun(owner.name, desired),
        isHeld: ({ name, uid }) => assignments.get(name)?.owner.uid === uid,
        retryAtMs,
        nowMs: clock.now(),
      });
      const ended = await act(action, held, content, desired, until);
      if (ended !== undefined) return ended;
    }
    throw new AppError(
      agentErrors.HELM_FAILED,
      `release ${desired.namespace}/${desired.name} is still not as it should be after ${maxActions} actions; something else changes it`,
    );
  }

  /** Undefined: look again. */
  async function act(
    action: Action,
    held: HeldAssignment,
    content: DeploymentContent,
    desired: Desired,
    until: DeployUntil,
  ): Promise<Deployed | undefined> {
    switch (action.kind) {
      case "none":
        await notes.end(held.owner.name);
        return await inSync(content, action.record);
      case "wait":
        return { kind: "wait", untilMs: action.untilMs, why: action.why };
      case "refuse":
        throw new AppError(
          agentErrors.RELEASE_TAKEN,
          `release ${content.namespace}/${content.releaseName} belongs to the deployment ${action.holder.name} already; give one of the two another releaseName or namespace`,
        );
      case "adopt":
        await stored.adopt(action.record, desired.owner);
        return undefined;
      case "unlock":
        await stored.unlock(action.record);
        return undefined;
      case "uninstall":
        await uninstall(action.record, until.signal);
        return undefined;
      case "upgrade":
        await upgrade(desired, content, action.revision, until);
        return undefined;
      default:
        return unreachable(action);
    }
  }

  async function inSync(content: DeploymentContent, record: ReleaseRecord): Promise<InSync> {
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

  function interruptedRun(
    deployment: string,
    release: { readonly namespace: string; readonly name: string },
  ): InterruptedRun | undefined {
    const note = notes.of(deployment);
    return note?.namespace === release.namespace && note.release === release.name
      ? note
      : undefined;
  }

  async function uninstall(record: ReleaseRecord, signal: AbortSignal): Promise<void> {
    const result = await runHelm({ args: uninstallArgs(record), signal });
    if (result.code !== 0) {
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm uninstall of release ${record.namespace}/${record.name}: ${complaintOf(result)}`,
      );
    }
    stored.forget(record);
    releases.removed(record);
  }

  return {
    deploy,
    async installed(held) {
      const { content, desired } = await wantedOf(held);
      const latest = releases.latest(desired.namespace, desired.name);
      return latest !== undefined && isInSync(latest, desired)
        ? await inSync(content, latest)
        : undefined;
    },
    async withdraw(held, signal) {
      const { keepResources } = await unpackContent({
        deploymentId: held.deploymentId,
        bytes: held.content,
      });
      for (const record of releases.ownedBy(held.owner.name)) {
        if (record.owner?.uid !== held.owner.uid) continue;
        if (isLocked(record)) await stored.unlock(record);
        if (!keepResources) {
          await uninstall(record, signal);
          continue;
        }
        for (const { name, revision } of releases.history(record.namespace, record.name)) {
          await rest.delete(
            secrets,
            { namespace: record.namespace, name: recordSecretName({ name, revision }) },
            { signal },
          );
        }
        releases.removed(record);
      }
      await notes.end(held.owner.name);
    },
  };
}

async function wantedOf(
  held: HeldAssignment,
): Promise<{ readonly content: DeploymentContent; readonly desired: Desired }> {
  const content = await unpackContent({ deploymentId: held.deploymentId, bytes: held.content });
  return {
    content,
    desired: {
      owner: held.owner,
      namespace: content.namespace,
      name: content.releaseName,
      digest: releaseDigest(content),
    },
  };
}
