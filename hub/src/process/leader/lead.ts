/** What one replica at a time does: the leader, for as long as it holds the Lease. */
import { hubNamespace } from "@flotilla/shared/api/names";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { fenceWrites, runLeaderElection } from "@flotilla/shared/kube/leaderelection";
import { type Caches, refreshCaches } from "../../base/index.ts";
import { type Notifications, storeEventsFirst } from "../../events/index.ts";
import { ensureWorkspaces } from "../../fleet/index.ts";
import {
  ensureSigningKey,
  type Replica,
  readHubId,
  recordDeploymentsSigned,
  runOrphanedAgents,
  type SigningKey,
} from "../../link/index.ts";
import { runSigning } from "../../rollout/index.ts";
import { createDeploymentSigner, createPinSigner, type SeriesRegistry } from "../../rules/index.ts";
import type { FluxDeps, RunDeps } from "./deps.ts";
import { objectsOf } from "./objects-of.ts";
import { runControllers } from "./run-controllers.ts";

export interface LeadOptions extends Omit<RunDeps, "hubId" | "signer" | "caches"> {
  readonly caches: Caches;
  readonly series: Pick<SeriesRegistry, "register">;
  readonly replica: Pick<Replica, "name" | "identity" | "replicas" | "onLeading">;
  readonly notifications: Notifications;
  readonly flux: FluxDeps;
  /** With connections of its own: a renewal of the Lease must not wait behind other requests. */
  readonly leaseRest: KubeRest;
  /**
   * Runs the controller of registration tokens until the signal aborts; the connection rejects writes after the
   * leadership is lost.
   */
  readonly runTokens: (rest: KubeRest, signal: AbortSignal) => Promise<void>;
  /** Lets the agent of the hub's own cluster enrol, likewise; absent: it is enrolled by hand, or not at all. */
  readonly runLocalCluster?: (rest: KubeRest, signal: AbortSignal) => Promise<void>;
  /** Runs the controller of Receivers, likewise. */
  readonly runReceivers: (rest: KubeRest, signal: AbortSignal) => Promise<void>;
  /** Rotates the hub's authority, likewise. */
  readonly runRotation: (rest: KubeRest, signal: AbortSignal) => Promise<void>;
  /** Rotates the keys of the dashboard's sessions, likewise. */
  readonly runSessionKeys: (rest: KubeRest, signal: AbortSignal) => Promise<void>;
}

/** Leads whenever it is elected, until `signal` aborts. Throws LEADERSHIP_LOST. */
export function lead(options: LeadOptions, signal: AbortSignal): Promise<void> {
  const { rest, leaseRest, caches, flux, replica, notifications } = options;
  const { runTokens, runRotation, runReceivers, runSessionKeys, log } = options;
  const { observer } = notifications;
  const { name, identity, replicas, onLeading } = replica;
  return runLeaderElection({
    rest: leaseRest,
    namespace: hubNamespace,
    name: "flotilla-hub",
    identity,
    log,
    signal,
    onStartedLeading: async (leading, leadership) => {
      const guarded = storeEventsFirst(fenceWrites(rest, leadership), notifications);
      const [hubId, signingKey] = await Promise.all([
        readHubId(guarded),
        ensureSigningKey(guarded, hubNamespace),
        ensureWorkspaces(guarded),
        refreshCaches(caches, leading),
        options.flux.informers.refresh(leading),
      ]);
      const signer = createPinSigner(signingKey.bytes);
      onLeading(true);
      try {
        await Promise.all([
          runControllers({ ...options, rest: guarded, observer, hubId, signer }, leading),
          notifications.deliver((kind) => objectsOf(kind, caches, flux.informers), leading),
          signDeployments({ ...options, rest: guarded, signer }, signingKey, leading),
          runTokens(guarded, leading),
          options.runLocalCluster?.(guarded, leading),
          runRotation(guarded, leading),
          runReceivers(guarded, leading),
          runSessionKeys(guarded, leading),
          runOrphanedAgents(
            { ...options, rest: guarded, clusters: caches.clusters, replicas, replica: name },
            leading,
          ),
        ]);
      } finally {
        onLeading(false);
      }
    },
  });
}

async function signDeployments(
  { rest, caches, signer, ...deps }: LeadOptions & Pick<RunDeps, "signer">,
  key: SigningKey,
  leading: AbortSignal,
): Promise<void> {
  if (key.signsDeployments) return;
  const signing = {
    ...deps,
    rest,
    clusters: caches.clusters.store,
    bundles: caches.bundles.store,
    signer: createDeploymentSigner(signer),
    record: (signal: AbortSignal) => recordDeploymentsSigned(rest, hubNamespace, key, signal),
  };
  await runSigning(signing, leading);
}
