/** What Helm would have made of deployments: everything takes a while, some of it fails, and nothing is installed. */
import { archiveDigest } from "@flotilla/shared/charts/pin.ts";
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content/content.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { delay } from "@flotilla/shared/time/clock.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Deployer, InSync } from "../engine/deployer.ts";
import { agentErrors } from "../errors.ts";

export interface SimulatedHelmOptions {
  /** Of an installation, an upgrade and a removal; each takes from half of it to half as much again. */
  readonly latencyMs: number;
  /** How many of them fail, 0 to 1. */
  readonly failureRate: number;
}

export interface SimulatedHelmDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

interface Installed {
  readonly deploymentId: string;
  readonly release: InSync;
}

export function createSimulatedHelm(
  { latencyMs, failureRate }: SimulatedHelmOptions,
  { clock, log, random }: SimulatedHelmDeps,
): Deployer {
  /** By the deployment's UID: one that was made anew begins anew. */
  const installed = new Map<string, Installed>();

  function of({ owner, deploymentId }: HeldAssignment): InSync | undefined {
    const known = installed.get(owner.uid);
    return known?.deploymentId === deploymentId ? known.release : undefined;
  }

  /** As long as Helm would take; throws when it was to fail, or when somebody gave it up. */
  async function work(what: string, signals: readonly AbortSignal[]): Promise<void> {
    const signal = AbortSignal.any([...signals]);
    if (latencyMs > 0) await delay(clock, latencyMs * (0.5 + random()), signal);
    signal.throwIfAborted();
    if (random() < failureRate)
      throw new AppError(
        agentErrors.HELM_FAILED,
        `${what} failed, because this agent is simulated and was told to fail now and then`,
      );
  }

  return {
    async deploy(held, { signal, superseded, retryAtMs, hindranceOf }) {
      const known = of(held);
      if (known !== undefined) return known;
      if (retryAtMs !== undefined && retryAtMs > clock.now())
        return { kind: "wait", untilMs: retryAtMs, why: "failed" };
      const { owner, deploymentId, content: bytes } = held;
      const content = await unpackContent({ deploymentId, bytes });
      log.info({ deployment: owner.name, deploymentId }, "deployment has come");
      const hindrance = await hindranceOf(content);
      if (hindrance !== undefined) return { kind: "hindered", hindrance };
      const { namespace, releaseName } = content;
      await work(`helm upgrade --install ${releaseName} in ${namespace}`, [signal, superseded]);
      const revision = (installed.get(owner.uid)?.release.release.revision ?? 0) + 1;
      const release = inSync(content, revision);
      installed.set(owner.uid, { deploymentId, release });
      return release;
    },
    installed: (held) => Promise.resolve(of(held)),
    async withdraw({ owner }, signal) {
      if (installed.has(owner.uid)) await work(`helm uninstall of ${owner.name}`, [signal]);
      installed.delete(owner.uid);
    },
  };
}

/** A release of one Deployment that has the release's name. */
function inSync(
  { pin, namespace, releaseName: name }: DeploymentContent,
  revision: number,
): InSync {
  const chartVersion = pin.kind === "tarball" ? "" : pin.version;
  const chartDigest = archiveDigest(pin);
  return {
    kind: "in-sync",
    release: { namespace, name, revision, chartVersion, appVersion: "" },
    manifest: `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\n`,
    ...(chartDigest !== undefined && { chartDigest }),
  };
}
