/** What one replica at a time does: it leads for as long as its Lease is its own. */
import { hubNamespace } from "@flotilla/shared/api/names.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { runLeaderElection } from "@flotilla/shared/kube/leaderelection/leader-election.ts";
import { fenceWrites } from "@flotilla/shared/kube/leaderelection/leadership.ts";
import { ensurePinSigningKey } from "../authority/hub-secrets.ts";
import { type Caches, refreshCaches } from "../cache/caches.ts";
import { readHubId } from "../identity/cluster-identity.ts";
import type { SeriesRegistry } from "../metrics/series.ts";
import { runOrphanedAgents } from "../replica/orphaned-agents.ts";
import type { Replica } from "../replica/replica.ts";
import { createPinSigner } from "../resolve/pin-signature.ts";
import { ensureWorkspaces } from "../workspace/ensure.ts";
import { type RunDeps, runControllers } from "./run-controllers.ts";

export interface LeadOptions extends Omit<RunDeps, "hubId" | "seals" | "caches"> {
  readonly caches: Caches;
  readonly series: Pick<SeriesRegistry, "register">;
  readonly replica: Pick<Replica, "name" | "identity" | "replicas" | "onLeading">;
  /** With connections of its own: a renewal of the Lease must not wait behind other requests. */
  readonly leaseRest: KubeRest;
  /** Keeps registration tokens until the signal aborts; the connection refuses writes once the leadership is lost. */
  readonly runTokens: (rest: KubeRest, signal: AbortSignal) => Promise<void>;
  /** Rotates the hub's authority, likewise. */
  readonly runRotation: (rest: KubeRest, signal: AbortSignal) => Promise<void>;
}

/** Leads whenever it is elected, until `signal` aborts. Throws LEADERSHIP_LOST. */
export function lead(options: LeadOptions, signal: AbortSignal): Promise<void> {
  const { rest, leaseRest, caches, replica, runTokens, runRotation, log } = options;
  const { name, identity, replicas, onLeading } = replica;
  return runLeaderElection({
    rest: leaseRest,
    namespace: hubNamespace,
    name: "flotilla-hub",
    identity,
    log,
    signal,
    onStartedLeading: async (leading, leadership) => {
      const guarded = fenceWrites(rest, leadership);
      const [hubId, sealKey] = await Promise.all([
        readHubId(guarded),
        ensurePinSigningKey(guarded, hubNamespace),
        ensureWorkspaces(guarded),
        refreshCaches(caches, leading),
      ]);
      const seals = createPinSigner(sealKey);
      onLeading(true);
      try {
        await Promise.all([
          runControllers({ ...options, rest: guarded, hubId, seals }, leading),
          runTokens(guarded, leading),
          runRotation(guarded, leading),
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
