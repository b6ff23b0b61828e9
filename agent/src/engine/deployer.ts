/**
 * Makes one deployment what its assignment says: observe, decide, act, and again until nothing is left to do. All that
 * touches Helm is here; what is to be done is decided in release/next-action.ts.
 */
import type { ReleaseInfo } from "@flotilla/proto/messages.ts";
import type { ChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import { archiveDigest } from "@flotilla/shared/charts/pin.ts";
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content/content.ts";
import { AppError, unreachable } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Actor, Actors } from "../acting/actors.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";
import type { Copies, CopyPlace } from "../copies/copies.ts";
import { type CrdWishes, createCrdKeeper } from "../crds/crd-keeper.ts";
import type { Hindrance } from "../dependencies/hindrance.ts";
import { agentErrors } from "../errors.ts";
import { isLocked, type ReleaseRecord, recordSecretName } from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";
import type { RunHelm } from "../helm/run-helm.ts";
import type { Gathered, Inputs } from "../inputs/inputs.ts";
import { describeNamespace } from "../namespace/describe-namespace.ts";
import {
  type Action,
  type Desired,
  type InterruptedRun,
  isInSync,
  nextAction,
} from "../release/next-action.ts";
import type { Facts } from "../supply/facts.ts";
import type { Supplies } from "../supply/supplies.ts";
import type { CheckTemplates } from "../templates/template-guard.ts";
import type { RunNotes } from "./run-notes.ts";
import { createStoredReleases } from "./stored-releases.ts";
import { createUninstall } from "./uninstall.ts";
import { createUpgrade, type DeployUntil, refuseWhenOver } from "./upgrade.ts";

export interface DeployerDeps {
  /** The agent's own. */
  readonly rest: KubeRest;
  readonly actors: Actors;
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly charts: ChartCache;
  readonly checkTemplates: CheckTemplates;
  readonly inputs: Inputs;
  readonly copies: Copies;
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
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" }
  | Hindered;

/** Nothing was done: what it depends on is not there yet. */
interface Hindered {
  readonly kind: "hindered";
  readonly hindrance: Hindrance;
}

/** What one pass goes by. */
export interface DeployPass extends DeployUntil {
  /** When the last failure of this very content is to be tried again, ms since 1970. */
  readonly retryAtMs: number | undefined;
  /** What the deployment has to wait for before it is installed or upgraded. */
  readonly hindranceOf: (content: DeploymentContent) => Promise<Hindrance | undefined>;
}

export interface Deployer {
  /** Installs or upgrades. Throws an AppError when what is wanted could not be done. */
  deploy(held: HeldAssignment, pass: DeployPass): Promise<Deployed>;
  /** What is installed already of what is wanted; changes nothing. */
  installed(held: HeldAssignment, signal: AbortSignal): Promise<InSync | undefined>;
  /** Removes everything that was installed for a deployment. */
  withdraw(held: HeldAssignment, signal: AbortSignal): Promise<void>;
}

/** More actions than any sequence of states needs; beyond it something is changing the release as fast as we do. */
const maxActions = 6;

export function createDeployer(deps: DeployerDeps): Deployer {
  const { actors, assignments, copies, inputs, releases, notes, clock } = deps;
  const stored = createStoredReleases(deps);
  const crds = createCrdKeeper({ ...deps, stored });
  const uninstall = createUninstall({ ...deps, stored, crds });
  const upgrade = createUpgrade({ ...deps, stored, crds, uninstall });

  async function deploy(held: HeldAssignment, pass: DeployPass): Promise<Deployed> {
    const { owner } = held;
    const content = await contentOf(held);
    const actor = await actors.of(content.serviceAccount);
    const gathered = await gather(held, { content, actor }, pass);
    if ("hindrance" in gathered) return gathered;
    const { namespace, releaseName: name } = content;
    for (let actions = 0; actions < maxActions; actions += 1) {
      refuseWhenOver(pass.superseded);
      const latest = releases.latest(namespace, name);
      const desired: Desired = { owner, namespace, name, digest: await gathered.digest(latest) };
      const action = nextAction(desired, {
        latest,
        owned: releases.ownedBy(owner.name),
        interrupted: interruptedRun(owner.name, desired),
        isHeld: ({ name, uid }) => assignments.get(name)?.owner.uid === uid,
        retryAtMs: pass.retryAtMs,
        nowMs: clock.now(),
      });
      const ended = await act(action, { content, desired, actor, inputs: gathered }, pass);
      if (ended !== undefined) return ended;
    }
    throw new AppError(
      agentErrors.HELM_FAILED,
      `release ${namespace}/${name} is still not as it should be after ${maxActions} actions; something else changes it`,
    );
  }

  async function gather(
    { owner }: HeldAssignment,
    { content, actor }: Pick<Wanted, "content" | "actor">,
    { signal, hindranceOf }: DeployPass,
  ): Promise<Gathered | Hindered> {
    try {
      return await inputs.gather(content, { deployment: owner.name, actor, signal });
    } catch (thrown) {
      // What it takes its values from may come with what it depends on.
      const hindrance = await hindranceOf(content);
      if (hindrance === undefined) throw thrown;
      return { kind: "hindered", hindrance };
    }
  }

  /** Undefined: look again. */
  async function act(
    action: Action,
    wanted: Wanted,
    pass: DeployPass,
  ): Promise<Deployed | undefined> {
    const { content, desired, actor, inputs } = wanted;
    switch (action.kind) {
      case "none":
        await notes.end(desired.owner.name);
        await copies.apply(inputs.copies, { ...placeOf(wanted), signal: pass.signal });
        await describeNamespace(actor, content, pass.signal);
        await crds.settle(action.record, crdWishes(content, actor, pass.signal));
        return await inSync(content, action.record);
      case "wait":
        return { kind: "wait", untilMs: action.untilMs, why: action.why };
      case "refuse":
        throw new AppError(
          agentErrors.RELEASE_TAKEN,
          `release ${content.namespace}/${content.releaseName} belongs to the deployment ${action.holder.name} already; give one of the two another releaseName or namespace`,
        );
      case "adopt":
        await stored.adopt(actor.rest, action.record, desired.owner);
        return undefined;
      case "unlock":
        await stored.unlock(actor.rest, action.record);
        return undefined;
      case "uninstall":
      case "upgrade": {
        // What is moved stays where it was until it can come to where it is wanted.
        const hindrance = await pass.hindranceOf(content);
        if (hindrance !== undefined) return { kind: "hindered", hindrance };
        if (action.kind === "upgrade")
          await upgrade({ ...wanted, revision: action.revision }, pass);
        else {
          const wishes = crdWishes(content, actor, pass.signal);
          await uninstall(action.record, { ...wishes, to: desired });
        }
        return undefined;
      }
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

  return {
    deploy,
    async installed(held, signal) {
      const content = await contentOf(held);
      const { namespace, releaseName: name } = content;
      const latest = releases.latest(namespace, name);
      if (latest === undefined) return undefined;
      const digest = await digestOf(held, content, latest, signal).catch(unlessInputsAreMissing);
      if (digest === undefined) return undefined;
      const desired = { owner: held.owner, namespace, name, digest };
      return isInSync(latest, desired) ? await inSync(content, latest) : undefined;
    },
    async withdraw(held, signal) {
      const content = await contentOf(held);
      const { keepResources, serviceAccount } = content;
      const owned = releases
        .ownedBy(held.owner.name)
        .filter(({ owner }) => owner?.uid === held.owner.uid);
      // What never was installed needs nobody to remove it.
      if (owned.length > 0 || copies.has(held.owner.name)) {
        const actor = await actors.of(serviceAccount);
        for (const record of owned) {
          if (isLocked(record)) await stored.unlock(actor.rest, record);
          if (keepResources) await forgetRecords(record, actor, signal);
          else await uninstall(record, crdWishes(content, actor, signal));
        }
        if (!keepResources) await copies.remove(held.owner.name, actor, signal);
      }
      inputs.forget(held.owner.name);
      await notes.end(held.owner.name);
    },
  };

  async function digestOf(
    { owner }: HeldAssignment,
    content: DeploymentContent,
    installed: ReleaseRecord,
    signal: AbortSignal,
  ): Promise<string> {
    const actor = await actors.of(content.serviceAccount);
    const gathered = await inputs.gather(content, { deployment: owner.name, actor, signal });
    return await gathered.digest(installed);
  }

  /** What was installed stays. */
  async function forgetRecords(
    { namespace, name }: ReleaseRecord,
    actor: Actor,
    signal: AbortSignal,
  ): Promise<void> {
    for (const { revision } of releases.history(namespace, name)) {
      const ref = { namespace, name: recordSecretName({ name, revision }) };
      await actor.rest.delete(secrets, ref, { signal });
    }
    releases.removed({ namespace, name });
  }
}

/** A deployment as it is wanted, what it came to in this cluster, and as whom that is done. */
interface Wanted {
  readonly content: DeploymentContent;
  readonly desired: Desired;
  readonly actor: Actor;
  readonly inputs: Gathered;
}

async function contentOf({ deploymentId, content }: HeldAssignment): Promise<DeploymentContent> {
  return await unpackContent({ deploymentId, bytes: content });
}

function crdWishes(
  { deleteCRDResources }: DeploymentContent,
  actor: Actor,
  signal: AbortSignal,
): CrdWishes {
  return { keep: deleteCRDResources !== true, actor, signal };
}

function placeOf({ desired, actor }: Wanted): Omit<CopyPlace, "signal"> {
  return { owner: desired.owner.name, namespace: desired.namespace, actor };
}

/** What cannot be gathered now is not told of a deployment for which nothing is done. */
function unlessInputsAreMissing(thrown: unknown): undefined {
  const { code } = AppError.from(thrown);
  if (!missingInputs.some((kind) => kind.code === code)) throw thrown;
}

const missingInputs = [
  agentErrors.SUPPLY_AWAITED,
  agentErrors.SUPPLY_MISSING,
  agentErrors.VALUES_SOURCE_MISSING,
  agentErrors.VALUES_SOURCE_INVALID,
  agentErrors.VALUES_TEMPLATE_FAILED,
  agentErrors.SERVICE_ACCOUNT_MISSING,
];
