/** The agent: keeps in its cluster what the hub assigned, and tells the hub how it is. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { buildVersion } from "@flotilla/shared/buildinfo/build-version.ts";
import { createChartClient } from "@flotilla/shared/charts/chart-client.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/client/load-kubeconfig.ts";
import { createLog } from "@flotilla/shared/log/log.ts";
import { startHealthServer } from "@flotilla/shared/program/health-server.ts";
import { runProgram } from "@flotilla/shared/program/run-program.ts";
import { systemClock as clock } from "@flotilla/shared/time/clock.ts";
import { collectDefaultMetrics, Registry } from "prom-client";
import { agentUsage, parseAgentConfig } from "./config.ts";
import { helmEnvironment } from "./helm/helm-environment.ts";
import { createRunHelm } from "./helm/run-helm.ts";
import { createIdentityKeeper } from "./identity/identity-keeper.ts";
import { createIdentityStore } from "./identity/identity-store.ts";
import { createInstaller } from "./installer.ts";
import { createHubConnector } from "./link/hub-client.ts";
import { createLink } from "./link/link.ts";

await runProgram("flotilla-agent", agentUsage, async (signal) => {
  const config = parseAgentConfig(process.argv.slice(2), process.env);
  const log = createLog({ name: "agent", level: config.logLevel });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const kubeconfig = await loadKubeconfig({
    ...(config.kubeconfig !== undefined && { path: config.kubeconfig }),
    ...(config.context !== undefined && { context: config.context }),
    env: process.env,
  });
  const rest = connectKube(kubeconfig, { userAgent: `flotilla-agent/${buildVersion}` });
  const charts = createChartClient({
    userAgent: `flotilla-agent/${buildVersion}`,
    log,
    ...(config.proxy !== undefined && { proxy: config.proxy }),
  });
  const helmHome = join(config.dataDir, "helm");
  await mkdir(helmHome, { recursive: true, mode: 0o700 });

  const runHelm = createRunHelm({
    path: config.helm,
    environment: helmEnvironment(config, helmHome),
  });
  const connectHub = createHubConnector();
  const keeper = createIdentityKeeper({
    store: createIdentityStore(rest, agentNamespace, log),
    connectHub,
    clock,
    log,
  });
  const link = createLink({
    keeper,
    connectHub,
    agentVersion: buildVersion,
    agentNamespace,
    clock,
    log,
  });
  const installer = createInstaller({
    rest,
    namespace: agentNamespace,
    charts,
    runHelm,
    outbox: link.outbox,
    dataDir: config.dataDir,
    concurrency: config.concurrency,
    clock,
    log,
    metrics,
  });

  const health = await startHealthServer({
    listen: config.httpListen,
    metrics,
    notReady: () => (link.isConnected ? undefined : `not connected to the hub: ${link.trouble}`),
  });
  try {
    const held = await installer.load();
    log.info({ health: health.address, held }, "agent is ready");
    // What was assigned before is carried on whether or not the hub can be reached.
    await Promise.all([installer.run(signal), link.run(installer.intake, signal)]);
  } finally {
    await installer.close();
    await Promise.all([charts.close(), health.close(), rest.close()]);
  }
});
