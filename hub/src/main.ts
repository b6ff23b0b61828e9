/** The hub: serves agents, runs the controllers while it leads, and serves health, metrics and webhooks. */

import { hubNamespace } from "@flotilla/shared/api/names.ts";
import { buildVersion } from "@flotilla/shared/buildinfo/build-version.ts";
import { createChartClient } from "@flotilla/shared/charts/chart-client.ts";
import { createEventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { createLog } from "@flotilla/shared/log/log.ts";
import { startHealthServer } from "@flotilla/shared/program/health-server.ts";
import { runProgram } from "@flotilla/shared/program/run-program.ts";
import { systemClock as clock } from "@flotilla/shared/time/clock.ts";
import { collectDefaultMetrics, Registry } from "prom-client";
import { createAgentServer } from "./agentserver/agent-server.ts";
import { runRotationController } from "./authority/rotate.ts";
import { cachesSynced, createCaches, runCaches } from "./cache/caches.ts";
import { hubUsage, parseHubConfig, serverNames } from "./config.ts";
import { connectHub, userAgent } from "./connections.ts";
import { createContentStore } from "./content/content-store.ts";
import { createReportWriter } from "./dispatch/report-writer.ts";
import { lead } from "./leader/lead.ts";
import { createSeriesBook } from "./metrics/series.ts";
import { runPresenceController } from "./presence/controller.ts";
import { watchReferences } from "./referenced/references.ts";
import { createWorkspaceObjects } from "./referenced/workspace-objects.ts";
import { runTokenController } from "./registrationtoken/controller.ts";
import { createReplica } from "./replica/replica.ts";
import { webhookRoute } from "./webhook/route.ts";
import { createWebhook } from "./webhook/webhook.ts";
import { ensureHubNamespace } from "./workspace/ensure.ts";

/** How long streams may take to end before the port is closed regardless. */
const closeGraceMs = 2_000;

/**
 * Node copies three bytes for each TLS connection into a slab that small Buffers share, and each of them keeps its slab for
 * as long as the connection lives: with Node's default of 64 KiB that was 20 KB for each agent.
 */
Buffer.poolSize = 1_024;

await runProgram("flotilla-hub", hubUsage, async (signal) => {
  const config = parseHubConfig(process.argv.slice(2), process.env);
  const log = createLog({ name: "hub", level: config.logLevel });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const series = createSeriesBook();
  const connections = await connectHub(config, process.env);
  const { rest, leaseRest } = connections;
  const ending = new AbortController();
  const end = AbortSignal.any([signal, ending.signal]);
  const namespace = hubNamespace;

  let notReady: string | undefined = "the hub is starting";
  const caches = createCaches(rest, log);
  const { clusters, deployments, tokens } = caches;
  const webhook = createWebhook({ rest, helmOps: caches.helmOps.store, clock, log });
  const health = await startHealthServer({
    listen: config.httpListen,
    metrics,
    moreMetrics: series.text,
    notReady: () => notReady,
    routes: { "/hooks/": webhookRoute(webhook, () => notReady) },
  });
  const { proxy, replica: name } = config;
  const charts = createChartClient({ userAgent, ...(proxy !== undefined && { proxy }) });
  const events = createEventRecorder({ rest, controller: "flotilla.dev/hub", instance: name, log });
  const stores = { deployments: deployments.store, clusters: clusters.store };
  const reports = createReportWriter({ rest, ...stores, clock, log });
  const contents = createContentStore({ rest, stored: caches.contents.store, namespace, clock });
  const objects = createWorkspaceObjects({ rest, clock, log });
  watchReferences(deployments, objects);
  const parts = { rest, contents, objects, events, metrics, series, clock, log };
  const leases = caches.replicas;
  const replica = createReplica({ ...parts, rest: leaseRest, leases, namespace, name });
  const running: Promise<unknown>[] = [];
  try {
    await ensureHubNamespace(rest);
    const acquired = await replica.acquire(ending.signal);
    running.push(
      runCaches(caches, ending.signal),
      objects.run(ending.signal),
      reports.run(ending.signal),
    );
    const { certificateLifetimeMs: lifetimeMs } = config;
    const { isLeaseHeld } = replica;
    const server = await createAgentServer(
      { ...parts, namespace, clusters, deployments, tokens, reports },
      {
        ...acquired,
        replica: name,
        isLeaseHeld,
        version: buildVersion,
        servingNames: serverNames(config),
        certificateLifetimeMs: lifetimeMs,
      },
    );
    const { authority, presence } = server;
    // An agent that connects before would be rejected, after a handshake.
    await cachesSynced(caches);
    const { host, port } = config.grpcListen;
    const agentPort = await server.listen(host, port);
    const address = config.advertise || `${serverNames(config)[0]}:${agentPort}`;
    running.push(runPresenceController({ presence, clusters, clock, log, metrics }, end));
    notReady = undefined;
    log.info(
      { replica: name, agents: `${host}:${agentPort}`, health: health.address },
      "hub is ready",
    );
    const shared = { ...parts, clusters, tokens, authority, address, lifetimeMs };
    try {
      await lead(
        {
          ...parts,
          leaseRest,
          caches,
          resolver: charts,
          replica,
          runTokens: (leading, until) => runTokenController({ ...shared, rest: leading }, until),
          runRotation: (leading, until) =>
            runRotationController({ ...shared, rest: leading }, until),
        },
        end,
      );
    } finally {
      // Also when leadership was lost: the agents reconnect at once, to another replica or to the next process.
      notReady = "the hub is stopping";
      await server.close(closeGraceMs);
    }
  } finally {
    await replica.release();
    await reports.flush();
    await events.flush();
    ending.abort();
    await Promise.allSettled(running);
    await Promise.all([charts.close(), health.close(), connections.close()]);
  }
});
