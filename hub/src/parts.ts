/** The parts that every replica has, whether it leads or not: connections, caches, events, reports, contents and sources. */
import { hubNamespace, rancherNamespace } from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { createFairSemaphore } from "@flotilla/shared/concurrency";
import { connectKube, type GrantOf, loadKubeconfig } from "@flotilla/shared/kube/client";
import { createEventRecorder } from "@flotilla/shared/kube/events";
import type { Log } from "@flotilla/shared/log";
import { createProcessWatch } from "@flotilla/shared/process";
import { availableMemoryBytes } from "@flotilla/shared/program";
import { createSourceClient } from "@flotilla/shared/source/client";
import { followExtraAuthorities } from "@flotilla/shared/source/transport";
import { systemClock as clock } from "@flotilla/shared/time";
import { collectDefaultMetrics, Registry } from "prom-client";
import {
  createCaches,
  createChartReader,
  createFluxCaches,
  createHubEgress,
  runCaches,
} from "./base/index.ts";
import type { HubConfig } from "./config.ts";
import { createNotifications, watchReceiverSecrets } from "./events/index.ts";
import { createObjectRefreshController } from "./frontends/index.ts";
import { addressOf, createReportWriter } from "./link/index.ts";
import { createFleetGuard } from "./process/index.ts";
import {
  createContentStore,
  createReconcileDurations,
  createSeriesRegistry,
  createWatchedObjects,
} from "./rules/index.ts";
import { createGitParts } from "./sources/index.ts";

/** One for the leader's Lease, one for the replica's. */
const leaseConnections = 2;

const MiB = 1024 * 1024;
/** For all child processes together: runs of git, which read references and single files, and readers of charts. */
const childBytes = 512 * MiB;
/** A namespace gets at most half, so that a server that sends slowly holds up the sources of its own tenant alone. */
const readBudget = { capacity: 64 * MiB, share: 32 * MiB };

/** All rights of the hub but one are in one value of its chart. */
const grantOf: GrantOf = ({ verb }) => ({
  chart: "flotilla",
  value: verb === "impersonate" ? "dashboard.oidc.enabled" : "rbac.create",
});

export async function createParts(config: HubConfig, env: NodeJS.ProcessEnv, log: Log) {
  const kubeconfig = await loadKubeconfig({
    ...(config.kubeconfig !== undefined && { path: config.kubeconfig }),
    ...(config.context !== undefined && { context: config.context }),
    env,
  });
  const userAgent = `flotilla-hub/${buildVersion}`;
  const connection = connectKube(kubeconfig, { userAgent, grantOf });
  // Separate connections, so that renewals of Leases do not wait behind other requests.
  const leaseConnection = connectKube(kubeconfig, {
    userAgent,
    grantOf,
    connections: leaseConnections,
  });
  const reporter = { controller: "flotilla.dev/hub", instance: config.replica, log };
  const fleetEvents = createEventRecorder({ rest: connection, ...reporter });
  const fleet = createFleetGuard({
    rest: connection,
    takeOver: config.takeOverFromFleet,
    events: fleetEvents,
    clock,
    log,
  });
  const [rest, leaseRest] = [fleet.fence(connection), fleet.fence(leaseConnection)];
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const caches = createCaches(rest, log);
  const flux = createFluxCaches(rest, log, {
    takeOver: config.takeOverFromFlux,
    namespaces: config.fluxNamespaces,
  });
  const { proxy } = config;
  const hubEgress = createHubEgress({
    config: config.egress,
    server: kubeconfig.server,
    rest,
    log,
    replicaAddresses: () => caches.replicas.store.list().flatMap((lease) => addressOf(lease) ?? []),
  });
  const { ownPorts, charts: egress } = hubEgress;
  const sources = createSourceClient({
    userAgent,
    egress,
    memoryBytes: availableMemoryBytes(),
    ...(proxy !== undefined && { proxy }),
  });
  const recorder = createEventRecorder({ rest, ...reporter });
  const watch = createProcessWatch({ totalBytes: childBytes });
  const gitParts = createGitParts({ userAgent, egress, proxy, watch, clock, log });
  const chartReader = createChartReader({ watch });
  const notifications = createNotifications({
    rest,
    recorder,
    reporter,
    proxy,
    userAgent,
    metrics,
    clock,
    log,
    egress: hubEgress.notifications,
    alerts: flux.alerts,
    providers: flux.providers,
    crossNamespace: config.crossNamespaceReferences,
  });
  const stores = { deployments: caches.deployments.store, clusters: caches.clusters.store };
  const reports = createReportWriter({ rest, ...stores, clock, log });
  const series = createSeriesRegistry();
  const durations = createReconcileDurations(clock);
  series.register([durations.metric]);
  const stored = caches.contents.store;
  const contents = createContentStore({ rest, stored, namespace: hubNamespace, clock });
  const objects = createWatchedObjects({
    ...caches,
    receivers: flux.receivers,
    namespaces: [rancherNamespace],
    rest,
    project: gitParts.project,
    clock,
    log,
  });
  watchReceiverSecrets(flux.receivers, objects);
  const refreshing = createObjectRefreshController({
    helmReleases: flux.helmReleases,
    bundles: caches.bundles.store,
    objects,
    metrics,
    clock,
    log,
  });

  return {
    kubeconfig,
    /** May impersonate users, where its rights allow that. */
    connection,
    userAgent,
    rest,
    leaseRest,
    /** Keeps the hub from running beside Fleet's controllers; both clients reject writes then. */
    fleet,
    caches,
    /** The caches of Flux's kinds. */
    flux,
    sources,
    gitParts,
    /** The limits on whatever tenants have the hub ask. */
    egress,
    chartReader,
    /** For the bytes of tenants' files while they are read: of Git and of Buckets. */
    budget: createFairSemaphore(readBudget),
    /** The ports that this process listens on, to which charts' sources may not lead. */
    ownPorts,
    /** Its events are notifications, too. */
    events: notifications.events,
    notifications,
    reports,
    contents,
    objects,
    metrics,
    /** For metrics with a series for each object. */
    series,
    /** The durations of the reconciles of Flux's objects. */
    durations,
    clock,
    log,
    /** Runs caches and watches until `signal` aborts. */
    async run(signal: AbortSignal): Promise<void> {
      await Promise.all([
        ...[runCaches(caches, signal), flux.run(signal), notifications.run(signal)],
        ...[objects.run(signal), reports.run(signal), refreshing.run(signal)],
        hubEgress.run(signal),
        followExtraAuthorities({ file: config.extraAuthorities, clock, log }, signal),
      ]);
    },
    /** Writes what is pending. */
    async flush(): Promise<void> {
      await reports.flush();
      await Promise.all([recorder.flush(), fleetEvents.flush(), notifications.flush()]);
    },
    async close(): Promise<void> {
      await Promise.all([
        ...[sources.close(), gitParts.close(), chartReader.close(), notifications.close()],
        ...[connection.close(), leaseConnection.close()],
      ]);
    },
  };
}

export type Parts = Awaited<ReturnType<typeof createParts>>;
