/** The hub: serves agents, runs the controllers while it leads, and answers for its health. */

import { hubNamespace } from "@flotilla/shared/api/names.ts";
import { buildVersion } from "@flotilla/shared/buildinfo/build-version.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/client/load-kubeconfig.ts";
import { createEventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { createLog } from "@flotilla/shared/log/log.ts";
import { startHealthServer } from "@flotilla/shared/program/health-server.ts";
import { runProgram } from "@flotilla/shared/program/run-program.ts";
import { createSourceClient } from "@flotilla/shared/source/client/source-client.ts";
import { systemClock as clock } from "@flotilla/shared/time/clock.ts";
import { collectDefaultMetrics, Registry } from "prom-client";
import { hubUsage, parseHubConfig } from "./config.ts";
import { createContentStore } from "./content/content-store.ts";
import { cachesSynced, createCaches, runCaches } from "./control/caches.ts";
import { lead } from "./control/lead.ts";
import { serverNames } from "./identity/server-names.ts";
import { createSeriesBook } from "./metrics/series-book.ts";
import { createReplica } from "./presence/replica.ts";
import { createCurrency } from "./report/currency.ts";
import { createReportWriter } from "./report/report-writer.ts";
import { createWire } from "./serve/wire.ts";
import { followNamedByDeployments } from "./supply/named-by-deployments.ts";
import { createWorkspaceObjects } from "./supply/workspace-objects.ts";
import { createWebhook } from "./webhook/webhook.ts";
import { webhookRoute } from "./webhook/webhook-route.ts";
import { prepareHubNamespace } from "./workspace/prepare-workspaces.ts";

/** How long streams may take to end before the port is closed regardless. */
const closeGraceMs = 2_000;
/** For the Lease of the leader, and that of the replica. */
const leaseConnections = 2;

/**
 * Node copies three bytes for each TLS connection into a slab that small Buffers share, and each of them keeps its slab for as
 * long as the connection lives: with slabs of 64 KiB, Node's own, that was 20 KB for each agent.
 */
Buffer.poolSize = 1_024;

await runProgram("flotilla-hub", hubUsage, async (signal) => {
  const config = parseHubConfig(process.argv.slice(2), process.env);
  const log = createLog({ name: "hub", level: config.logLevel });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const series = createSeriesBook();
  const kubeconfig = await loadKubeconfig({
    ...(config.kubeconfig !== undefined && { path: config.kubeconfig }),
    ...(config.context !== undefined && { context: config.context }),
    env: process.env,
  });
  const userAgent = `flotilla-hub/${buildVersion}`;
  const rest = connectKube(kubeconfig, { userAgent });
  const leaseRest = connectKube(kubeconfig, { userAgent, connections: leaseConnections });
  const ending = new AbortController();
  const end = AbortSignal.any([signal, ending.signal]);

  let notReady: string | undefined = "the hub is starting";
  const caches = createCaches(rest, log);
  const webhook = createWebhook({ rest, helmOps: caches.helmOps.store, clock, log });
  const health = await startHealthServer({
    listen: config.httpListen,
    metrics,
    moreMetrics: series.text,
    notReady: () => notReady,
    routes: { "/hooks/": webhookRoute(webhook, () => notReady) },
  });
  const charts = createSourceClient({
    userAgent,
    ...(config.proxy !== undefined && { proxy: config.proxy }),
  });
  const events = createEventRecorder({
    rest,
    controller: "flotilla.dev/hub",
    instance: config.replica,
    log,
  });
  const currency = createCurrency({ rest, clusters: caches.clusters.store, clock, log });
  const reports = createReportWriter({
    rest,
    deployments: caches.deployments.store,
    currency,
    clock,
    log,
  });
  const contents = createContentStore({
    rest,
    stored: caches.contents.store,
    namespace: hubNamespace,
    clock,
  });
  const objects = createWorkspaceObjects({ rest, clock, log });
  followNamedByDeployments(caches.deployments, objects);
  const parts = { rest, contents, objects, events, metrics, series, clock, log };
  const replica = createReplica({
    ...parts,
    rest: leaseRest,
    leases: caches.replicas,
    namespace: hubNamespace,
    name: config.replica,
  });
  const running: Promise<unknown>[] = [];
  try {
    await prepareHubNamespace(rest);
    const joined = await replica.join(ending.signal);
    running.push(
      runCaches(caches, ending.signal),
      objects.run(ending.signal),
      currency.run(ending.signal),
    );
    const wire = await createWire(
      {
        ...parts,
        namespace: hubNamespace,
        clusters: caches.clusters,
        deployments: caches.deployments,
        tokens: caches.tokens,
        reports,
      },
      {
        ...joined,
        replica: replica.name,
        isCountedOn: replica.isCountedOn,
        version: buildVersion,
        servingNames: serverNames(config),
        certificateLifetimeMs: config.certificateLifetimeMs,
      },
    );
    // Agents that come before would be sent away again, each after a handshake.
    await cachesSynced(caches);
    const { host, port } = config.grpcListen;
    const agentPort = await wire.listen(host, port);
    const advertised =
      config.advertise === "" ? `${serverNames(config)[0]}:${agentPort}` : config.advertise;
    running.push(wire.runPresence(end));
    notReady = undefined;
    log.info(
      { replica: replica.name, agents: `${host}:${agentPort}`, health: health.address },
      "hub is ready",
    );
    try {
      await lead(
        {
          ...parts,
          leaseRest,
          caches,
          resolver: charts,
          replica,
          runTokens: (leading, until) => wire.runTokens(leading, advertised, until),
          runRotation: wire.runRotation,
        },
        end,
      );
    } finally {
      // Also when the leadership was lost: the agents come back at once, to another replica or to the next process.
      notReady = "the hub is ending";
      await wire.close(closeGraceMs);
    }
  } finally {
    await replica.leave();
    await reports.flush();
    await events.flush();
    ending.abort();
    await Promise.allSettled(running);
    await Promise.all([charts.close(), health.close(), rest.close(), leaseRest.close()]);
  }
});
