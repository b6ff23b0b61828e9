/** A deployer that installs nothing: every action takes some time, and some fail. */

import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { archiveDigest, pinnedVersion } from "@flotilla/shared/source";
import { type Clock, delay } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import type { Deployer, InSync } from "../../release/index.ts";
import type { ReleaseAssignment } from "../../state/index.ts";
import { noWatches } from "./in-memory-parts.ts";

export interface SimulatedHelmOptions {
  /** The latency of an install, upgrade or uninstall; each takes 50% to 150% of it. */
  readonly latencyMs: number;
  /** The share of failing actions, 0 to 1. */
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
  /** By the deployment's UID and the release's id. */
  const installed = new Map<string, Installed>();

  function current({ owner, deploymentId }: ReleaseAssignment): InSync | undefined {
    const known = installed.get(keyOf(owner));
    return known?.deploymentId === deploymentId ? known.release : undefined;
  }

  /** Takes the configured time. Throws HELM_FAILED at the configured rate, and when a signal aborts. */
  async function work(what: string, signals: readonly AbortSignal[]): Promise<void> {
    const signal = AbortSignal.any([...signals]);
    if (latencyMs > 0) await delay(clock, latencyMs * (0.5 + random()), signal);
    signal.throwIfAborted();
    if (random() < failureRate)
      throw new AppError(agentErrors.HELM_FAILED, `${what}: simulated failure`);
  }

  return {
    async deploy(assignment, { signal, superseded, retryAtMs, unmetDependencies }) {
      const known = current(assignment);
      if (known !== undefined) return known;
      if (retryAtMs !== undefined && retryAtMs > clock.now())
        return { kind: "wait", untilMs: retryAtMs, why: "failed" };
      const { owner, deploymentId, content: bytes } = assignment;
      const content = await unpackContent({ deploymentId, bytes });
      log.info({ deployment: owner.name, deploymentId }, "deployment received");
      const unmet = await unmetDependencies(content);
      if (unmet !== undefined) return { kind: "blocked", unmet };
      const { namespace, releaseName } = content;
      await work(`helm upgrade --install ${releaseName} in ${namespace}`, [signal, superseded]);
      const revision = (installed.get(keyOf(owner))?.release.release.revision ?? 0) + 1;
      const release = inSync(content, revision);
      installed.set(keyOf(owner), { deploymentId, release });
      return release;
    },
    installed: (assignment) => Promise.resolve(current(assignment)),
    async withdraw({ owner }, signal) {
      if (installed.has(keyOf(owner))) await work(`helm uninstall of ${owner.name}`, [signal]);
      installed.delete(keyOf(owner));
    },
  };
}

function keyOf({ id, uid }: ReleaseAssignment["owner"]): string {
  return `${uid} ${id}`;
}

/** A release of one Deployment that has the release's name. */
function inSync(
  { pin, namespace, releaseName: name }: DeploymentContent,
  revision: number,
): InSync {
  const chartVersion = pinnedVersion(pin);
  const chartDigest = archiveDigest(pin);
  return {
    kind: "in-sync",
    release: { namespace, name, revision, chartVersion, appVersion: "" },
    objects: [{ apiVersion: "apps/v1", kind: "Deployment", name }],
    manifestDigest: "",
    ...(chartDigest !== undefined && { chartDigest }),
    client: noWatches,
    ignoredConditions: [],
    drift: {
      release: { namespace, name, revision },
      options: {},
      client: noWatches,
      manifestDigest: "",
      wholeObjects: () => Promise.resolve([]),
      isCurrent: () => true,
    },
  };
}
