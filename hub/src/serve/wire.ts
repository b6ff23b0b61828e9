/** The hub's end of the wire, put together: certificates, enrolment, presence, hand-out, and the port. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import type { Informer } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { createController } from "@flotilla/shared/kube/controller/controller.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Registry } from "prom-client";
import type { ContentReader } from "../content/content-store.ts";
import { createEnrollment } from "../enroll/enroll.ts";
import { createHandout } from "../handout/handout.ts";
import { createHandoutMetrics } from "../handout/metrics.ts";
import type { ReportSink } from "../handout/report-sink.ts";
import { registerAuthorityMetrics } from "../identity/authority-metrics.ts";
import { readHubId } from "../identity/hub-id.ts";
import { createLiveAuthority } from "../identity/live-authority.ts";
import { rotateAuthority } from "../identity/rotate-authority.ts";
import { createServingIdentity } from "../identity/serving-identity.ts";
import { createPresence } from "../presence/presence.ts";
import { reconcileToken } from "../registration-token/token-controller.ts";
import { followTokenUses } from "../registration-token/token-uses.ts";
import type { WorkspaceObjects } from "../supply/workspace-objects.ts";
import { createFleetServer } from "./fleet-server.ts";
import { createRefusals } from "./refusals.ts";

export interface WireDeps {
  readonly rest: KubeRest;
  /** The hub's own namespace, which must exist. */
  readonly namespace: string;
  readonly clusters: Informer<Cluster>;
  readonly deployments: Informer<BundleDeployment>;
  readonly tokens: Informer<ClusterRegistrationToken>;
  readonly contents: ContentReader;
  readonly objects: Pick<WorkspaceObjects, "get" | "onChange">;
  readonly reports: ReportSink;
  readonly events: EventRecorder;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WireOptions {
  /** The name of this replica, the same after a restart. */
  readonly replica: string;
  readonly version: string;
  /** DNS names and IP addresses that agents reach the port by. */
  readonly servingNames: readonly string[];
  /** How long an agent's certificate is good for; default 24 h. */
  readonly certificateLifetimeMs?: number;
  /** How long agents get to come back after a start before they count as gone; default 60 s. */
  readonly presenceGraceMs?: number;
  /** Whether others count on this replica; default: always. */
  readonly isCountedOn?: () => boolean;
  /** When the process before this one, of the same name, was last there, RFC 3339. */
  readonly keptBefore?: string;
}

export interface Wire {
  readonly hubId: string;
  /** How many agents are connected. */
  readonly agents: number;
  /** Opens the port; gives the one that it got. Agents are answered once the informers have synced. */
  listen(host: string, port: number): Promise<number>;
  /** Every replica: writes which of its agents are gone, until `signal` aborts. Begin it once the informers have synced. */
  runPresence(signal: AbortSignal): Promise<void>;
  /**
   * The leader alone, with a connection that refuses its writes once it no longer leads: keeps registration tokens. `address` is
   * `host:port` as agents reach the hub.
   */
  runTokens(leading: KubeRest, address: string, signal: AbortSignal): Promise<void>;
  /** The leader alone, with such a connection: rotates the hub's authority. */
  runRotation(leading: KubeRest, signal: AbortSignal): Promise<void>;
  /** Hands the agents over and closes the port, after `graceMs` at the latest. */
  close(graceMs: number): Promise<void>;
}

const defaultCertificateLifetimeMs = 24 * 3_600_000;

export async function createWire(deps: WireDeps, options: WireOptions): Promise<Wire> {
  const { rest, clusters, deployments, tokens, clock, log, metrics } = deps;
  const hubId = await readHubId(rest);
  const lifetimeMs = options.certificateLifetimeMs ?? defaultCertificateLifetimeMs;
  const authority = await createLiveAuthority({ ...deps, lifetimeMs });
  const ending = new AbortController();
  const following = authority.run(ending.signal);
  const stopMetrics = registerAuthorityMetrics(metrics, authority);
  const names = options.servingNames;
  const serving = await createServingIdentity({ authority, names, clock, log });
  const presence = createPresence({
    rest,
    clusters: clusters.store,
    clock,
    replica: options.replica,
    ...(options.isCountedOn !== undefined && { isCountedOn: options.isCountedOn }),
    ...(options.keptBefore !== undefined && { keptBefore: options.keptBefore }),
    ...(options.presenceGraceMs !== undefined && { graceMs: options.presenceGraceMs }),
  });
  const refusals = createRefusals(deps);
  const handout = createHandout({
    ...deps,
    refusals,
    hubId,
    hubVersion: options.version,
    authority,
    presence,
    metrics: createHandoutMetrics(metrics),
  });
  const enrollment = createEnrollment({
    ...deps,
    clusters: clusters.store,
    tokens: tokens.store,
    authority,
    hubId,
    refusals,
  });
  const server = createFleetServer({
    hubId,
    clusters: clusters.store,
    refusals,
    hasSynced: () => clusters.hasSynced && deployments.hasSynced && tokens.hasSynced,
    clock,
    log,
    serving,
    enrollment,
    handout,
  });

  return {
    hubId,
    get agents() {
      return handout.size;
    },
    listen: (host, port) => server.listen(host, port),
    async runPresence(signal) {
      const controller = createController({
        name: "presence",
        reconcile: presence.reconcile,
        workers: 8,
        log,
        metrics,
        clock,
      });
      const stop = [
        presence.onChange((key) => controller.enqueue(key)),
        clusters.onChange(({ key, after }) => presence.clusterChanged(key, after)),
      ];
      for (const key of presence.recorded()) controller.enqueue(key);
      await controller.run(signal);
      for (const each of stop) each();
    },
    async runTokens(leading, address, signal) {
      const hub = {
        address,
        get authoritiesPem() {
          return authority.trusted.pem;
        },
      };
      const controller = createController({
        name: "registration-token",
        reconcile: reconcileToken({ ...deps, rest: leading, tokens: tokens.store, hub }),
        log,
        metrics,
        clock,
      });
      const all = (): void => {
        for (const token of tokens.store.list()) controller.enqueue(keyOf(token));
      };
      const stops = [
        tokens.onChange(({ key }) => controller.enqueue(key)),
        // Their Secrets say what the hub is known by.
        authority.onChange(all),
      ];
      all();
      const uses = followTokenUses({ ...deps, rest: leading, tokens: tokens.store });
      try {
        await controller.run(signal);
      } finally {
        for (const stop of stops) stop();
        await uses.stop();
      }
    },
    async runRotation(leading, signal) {
      const key = keyOf(authority.secret);
      const controller = createController({
        name: "authority",
        reconcile: rotateAuthority({ ...deps, rest: leading, authority, lifetimeMs }),
        log,
        metrics,
        clock,
      });
      const look = (): void => controller.enqueue(key);
      const stops = [authority.onChange(look), authority.onGone(look)];
      look();
      await controller.run(signal);
      for (const stop of stops) stop();
    },
    async close(graceMs) {
      await server.close(graceMs);
      serving.stop();
      stopMetrics();
      ending.abort();
      await following;
    },
  };
}
