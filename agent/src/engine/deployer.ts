/**
 * Makes one deployment what its assignment says: observe, decide, act, and again until nothing is left to do. All that
 * touches Helm is here; what is to be done is decided in release/next-action.ts.
 */
import type { ReleaseInfo } from "@flotilla/proto/messages.ts";
import {
  type AccessSettings,
  accessTo,
  type RepositoryAccess,
} from "@flotilla/shared/charts/access.ts";
import type { ChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import type { ChartSource } from "@flotilla/shared/charts/source.ts";
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
import { toHelmJson } from "@flotilla/shared/yaml/helm-yaml.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";
import { agentErrors } from "../errors.ts";
import { uninstallArgs, upgradeArgs } from "../helm/commands.ts";
import {
  decodeRecord,
  failedRecord,
  type HelmRelease,
  parseRelease,
  type ReleaseRecord,
  recordOf,
  recordSecretName,
} from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";
import { complaintOf, type RunHelm } from "../helm/run-helm.ts";
import { type Action, type Desired, isInSync, nextAction } from "../release/next-action.ts";
import { ensureNamespace } from "./ensure-namespace.ts";
import type { RunNotes } from "./run-notes.ts";

export interface DeployerDeps {
  readonly rest: KubeRest;
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly charts: ChartCache;
  readonly runHelm: RunHelm;
  readonly notes: RunNotes;
  readonly clock: Clock;
  readonly log: Log;
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

export interface DeployUntil {
  /** The process ends. */
  readonly signal: AbortSignal;
  /** Something else is wanted by now: what only waits is not waited for. */
  readonly superseded: AbortSignal;
}

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
  const { rest, assignments, releases, charts, runHelm, notes, clock, log } = deps;
  /** What the last run printed, so that nothing has to be read twice. By release. */
  const printed = new Map<string, HelmRelease>();
  const chartDigests = new Map<string, string>();

  async function deploy(
    held: HeldAssignment,
    retryAtMs: number | undefined,
    until: DeployUntil,
  ): Promise<Deployed> {
    const { owner } = held;
    const { content, desired } = await wantedOf(held);
    for (let actions = 0; actions < maxActions; actions += 1) {
      const action = nextAction(desired, {
        latest: releases.latest(desired.namespace, desired.name),
        owned: releases.ownedBy(owner.name),
        interruptedRevision: interruptedRevision(owner.name, desired),
        isHeld: ({ name, uid }) => assignments.get(name)?.owner.uid === uid,
        retryAtMs,
        nowMs: clock.now(),
      });
      const ended = await act(action, held, content, desired.digest, until);
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
    digest: string,
    until: DeployUntil,
  ): Promise<Deployed | undefined> {
    switch (action.kind) {
      case "none":
        await notes.end(held.owner.name);
        return await inSync(held, action.record);
      case "wait":
        return { kind: "wait", untilMs: action.untilMs, why: action.why };
      case "refuse":
        throw new AppError(
          agentErrors.RELEASE_TAKEN,
          `release ${content.namespace}/${content.releaseName} belongs to the deployment ${action.holder.name} already; give one of the two another releaseName or namespace`,
        );
      case "unlock":
        await unlock(action.record);
        return undefined;
      case "uninstall":
        await uninstall(action.record, until.signal);
        return undefined;
      case "upgrade":
        await upgrade(held, content, digest, action.revision, until);
        return undefined;
      default:
        return unreachable(action);
    }
  }

  async function inSync(held: HeldAssignment, record: ReleaseRecord): Promise<InSync> {
    const { namespace, name, revision, chartVersion, appVersion, manifest } =
      await releaseOf(record);
    const chartDigest = chartDigests.get(held.owner.name);
    return {
      kind: "in-sync",
      release: { namespace, name, revision, chartVersion, appVersion },
      manifest,
      ...(chartDigest !== undefined && { chartDigest }),
    };
  }

  function interruptedRevision(
    deployment: string,
    release: { readonly namespace: string; readonly name: string },
  ): number | undefined {
    const note = notes.of(deployment);
    return note?.namespace === release.namespace && note.release === release.name
      ? note.revision
      : undefined;
  }

  async function upgrade(
    held: HeldAssignment,
    content: DeploymentContent,
    digest: string,
    revision: number,
    { signal, superseded }: DeployUntil,
  ): Promise<void> {
    const { owner } = held;
    const chart = await charts.fetch(content.pin, accessOf(content), { signal });
    await notes.begin({
      deployment: owner.name,
      namespace: content.namespace,
      release: content.releaseName,
      revision,
    });
    if (content.createNamespace && revision === 1)
      await ensureNamespace(rest, content.namespace, signal);
    const args = upgradeArgs({ content, owner, digest, revision, chartPath: chart.path });
    let noted: Promise<void> = Promise.resolve();
    const result = await runHelm({
      args,
      // With `atomic` Helm would undo first, and be cut off in the middle of that.
      signal:
        content.helm.timeoutSeconds > 0 && !content.helm.atomic
          ? AbortSignal.any([signal, superseded])
          : signal,
      ...(content.values !== undefined && { stdin: toHelmJson(content.values) }),
      onStart: (pid) => {
        noted = notes.started(owner.name, pid);
        // It is awaited when Helm has ended.
        noted.catch(() => undefined);
      },
    });
    await noted;
    if (result.code !== 0) {
      await learnFailed(content, revision);
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm upgrade --install of release ${content.namespace}/${content.releaseName}: ${complaintOf(result)}`,
      );
    }
    const release = parseRelease(
      result.stdout,
      `what helm printed of ${content.namespace}/${content.releaseName}`,
    );
    printed.set(keyOfRelease(release), release);
    chartDigests.set(owner.name, chart.digest);
    releases.ran(release, { owner, digest });
    await notes.end(owner.name);
    log.info(
      {
        deployment: owner.name,
        release: content.releaseName,
        namespace: content.namespace,
        revision: release.revision,
      },
      "release installed",
    );
  }

  /** The record of a run that failed, which a withdrawal that comes at once must not overlook. */
  async function learnFailed(content: DeploymentContent, revision: number): Promise<void> {
    const { namespace, releaseName } = content;
    const ref = { namespace, name: recordSecretName({ name: releaseName, revision }) };
    // Where it cannot be read the watch will tell it.
    const secret = await rest.get(secrets, ref).catch(() => undefined);
    const record = secret === undefined ? undefined : recordOf(secret);
    if (record?.isOurs === true) releases.ran(record, record);
  }

  /** The release behind a record: as Helm printed it, or else as it is stored. */
  async function releaseOf(record: ReleaseRecord): Promise<HelmRelease> {
    const known = printed.get(keyOfRelease(record));
    if (known?.revision === record.revision) return known;
    const ref = { namespace: record.namespace, name: recordSecretName(record) };
    const secret = await rest.get(secrets, ref);
    if (secret === undefined) {
      throw new AppError(
        agentErrors.RELEASE_UNREADABLE,
        `read Helm's record ${ref.namespace}/${ref.name}: it is not there any more`,
      );
    }
    const release = parseRelease(
      await decodeRecord(secret),
      `Helm's record ${ref.namespace}/${ref.name}`,
    );
    printed.set(keyOfRelease(release), release);
    return release;
  }

  async function unlock(record: ReleaseRecord): Promise<void> {
    const secret = await rest.get(secrets, {
      namespace: record.namespace,
      name: recordSecretName(record),
    });
    if (secret === undefined) return;
    await rest.replace(
      secrets,
      await failedRecord(secret, "the agent that ran Helm was ended before Helm was through"),
    );
    releases.ran({ ...record, status: "failed" }, record);
    log.warn(
      { release: record.name, namespace: record.namespace, revision: record.revision },
      "release was locked by a run that was cut off, unlocked",
    );
  }

  async function uninstall(record: ReleaseRecord, signal: AbortSignal): Promise<void> {
    const result = await runHelm({ args: uninstallArgs(record), signal });
    if (result.code !== 0) {
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm uninstall of release ${record.namespace}/${record.name}: ${complaintOf(result)}`,
      );
    }
    printed.delete(keyOfRelease(record));
    releases.removed(record);
  }

  return {
    deploy,
    async installed(held) {
      const { desired } = await wantedOf(held);
      const latest = releases.latest(desired.namespace, desired.name);
      return latest !== undefined && isInSync(latest, desired)
        ? await inSync(held, latest)
        : undefined;
    },
    async withdraw(held, signal) {
      const { keepResources } = await unpackContent({
        deploymentId: held.deploymentId,
        bytes: held.content,
      });
      for (const record of releases.ownedBy(held.owner.name)) {
        if (record.owner?.uid !== held.owner.uid) continue;
        if (record.status.startsWith("pending-")) await unlock(record);
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
      chartDigests.delete(held.owner.name);
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

function keyOfRelease({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  return `${namespace}/${name}`;
}

/** Credentials come apart from the content; what is in it is how certificates are checked. */
function accessOf({ pin, access }: DeploymentContent): RepositoryAccess {
  const settings: AccessSettings = { insecureSkipVerify: access.insecureSkipVerify };
  const source: ChartSource =
    pin.kind === "oci"
      ? { kind: "oci", repository: pin.repository }
      : { kind: "tarball", url: pin.url };
  return accessTo(source, settings);
}
