/** Everything that serves agents on one replica: certificates, enrolment, presence, dispatch and the gRPC port. */
import type { Bundle, ClusterRegistrationToken, HelmOp } from "@flotilla/shared/api";
import type { Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Registry } from "prom-client";
import { byNamedCluster } from "../../base/index.ts";
import { LiveAuthority } from "../authority/live-authority.ts";
import { registerAuthorityMetrics } from "../authority/metrics.ts";
import { createServingCertificates } from "../authority/serving-certificate.ts";
import { createDispatcher, type Dispatcher, type DispatcherDeps } from "../dispatch/dispatcher.ts";
import { createDispatchMetrics } from "../dispatch/metrics.ts";
import { createEnrolment } from "../enrolment/enrolment.ts";
import { readHubId } from "../identity/cluster-identity.ts";
import type { EpochFloorOf } from "../presence/epoch.ts";
import { createPresence, type Presence } from "../presence/presence.ts";
import { createRejections } from "../rpc/rejections.ts";
import { createFleetServer } from "./fleet-server.ts";

export interface AgentServerDeps
  extends Pick<
    DispatcherDeps,
    "deployments" | "contents" | "trust" | "objects" | "reports" | "events" | "clock" | "log"
  > {
  readonly rest: KubeRest;
  /** The hub's own namespace, which must exist. */
  readonly namespace: string;
  readonly clusters: DispatcherDeps["clusters"] & SyncedInformer;
  readonly deployments: DispatcherDeps["deployments"] & SyncedInformer;
  readonly tokens: Informer<ClusterRegistrationToken>;
  readonly helmOps: Pick<Informer<HelmOp>, "store"> & SyncedInformer;
  readonly bundles: Pick<Informer<Bundle>, "store" | "onChange"> & SyncedInformer;
  readonly metrics: Registry;
}

interface SyncedInformer {
  readonly hasSynced: boolean;
}

export interface AgentServerOptions {
  /** The name of this replica, the same after a restart. */
  readonly replica: string;
  readonly version: string;
  /** DNS names and IP addresses by which agents reach the port. */
  readonly servingNames: readonly string[];
  /** The lifetime of agents' certificates; default 24 h. */
  readonly certificateLifetimeMs?: number;
  /** How long agents get to reconnect after a start before they count as offline; default 60 s. */
  readonly presenceGraceMs?: number;
  /** Whether this replica holds its Lease, by its own clock; default: always. */
  readonly isLeaseHeld?: () => boolean;
  /** When the previous process of the same name last renewed its Lease, RFC 3339. */
  readonly previousRenewTime?: string;
  /** Default: no replica has a floor. */
  readonly epochFloorOf?: EpochFloorOf;
}

export interface AgentServer {
  readonly hubId: string;
  readonly authority: LiveAuthority;
  readonly presence: Presence;
  /** The validity of agents' certificates, in ms. */
  readonly certificateLifetimeMs: number;
  /** How many agents are connected. */
  readonly agents: number;
  /** Sends a request of a user to an agent that is connected here. */
  readonly request: Dispatcher["request"];
  /** Opens the port and returns it. Agents are answered once the informers have synced. */
  listen(host: string, port: number): Promise<number>;
  /** Ends the streams, so that agents reconnect elsewhere, and closes the port, after `graceMs` at the latest. */
  close(graceMs: number): Promise<void>;
}

const defaultCertificateLifetimeMs = 24 * 3_600_000;

export async function createAgentServer(
  deps: AgentServerDeps,
  options: AgentServerOptions,
): Promise<AgentServer> {
  const { rest, clusters, deployments, tokens, helmOps, bundles, clock, log, metrics } = deps;
  const { replica, version, servingNames: names } = options;
  const hubId = await readHubId(rest);
  const certificateLifetimeMs = options.certificateLifetimeMs ?? defaultCertificateLifetimeMs;
  const authority = await LiveAuthority.open({ ...deps, lifetimeMs: certificateLifetimeMs });
  const ending = new AbortController();
  const watching = authority.run(ending.signal);
  const removeMetrics = registerAuthorityMetrics(metrics, authority);
  const serving = await createServingCertificates({ authority, names, clock, log });
  const presence = createPresence({
    rest,
    clusters: clusters.store,
    clock,
    replica,
    ...(options.isLeaseHeld !== undefined && { isLeaseHeld: options.isLeaseHeld }),
    ...(options.previousRenewTime !== undefined && {
      previousRenewTime: options.previousRenewTime,
    }),
    ...(options.epochFloorOf !== undefined && { epochFloorOf: options.epochFloorOf }),
    ...(options.presenceGraceMs !== undefined && { graceMs: options.presenceGraceMs }),
  });
  const rejections = createRejections(deps);
  const dispatcher = createDispatcher({
    ...deps,
    rejections,
    hubId,
    hubVersion: version,
    authority,
    presence,
    metrics: createDispatchMetrics(metrics),
  });
  const enrolment = createEnrolment({
    ...deps,
    clusters: clusters.store,
    tokens: tokens.store,
    isAwaited: (cluster) =>
      [helmOps, bundles].some(({ store }) => store.byIndex(byNamedCluster, cluster).length > 0),
    authority,
    hubId,
    rejections,
  });
  const server = createFleetServer({
    hubId,
    clusters: clusters.store,
    rejections,
    hasSynced: () =>
      [clusters, deployments, tokens, helmOps, bundles].every(({ hasSynced }) => hasSynced),
    clock,
    log,
    serving,
    enrolment,
    dispatcher,
  });

  return {
    hubId,
    authority,
    presence,
    certificateLifetimeMs,
    get agents() {
      return dispatcher.size;
    },
    request: dispatcher.request,
    listen: (host, port) => server.listen(host, port),
    async close(graceMs) {
      await server.close(graceMs);
      serving.stop();
      removeMetrics();
      ending.abort();
      await watching;
    },
  };
}
