/** The agent: installs in its cluster what the hub assigns, and reports its state to the hub. */
import { mkdir } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { agentNamespace } from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { createLog } from "@flotilla/shared/log";
import { availableMemoryBytes, runProgram, startHealthServer } from "@flotilla/shared/program";
import { createSourceClient } from "@flotilla/shared/source/client";
import { systemClock as clock } from "@flotilla/shared/time";
import { collectDefaultMetrics, Registry } from "prom-client";
import { agentUsage, parseAgentConfig } from "./config.ts";
import { createHubConnection } from "./connection/index.ts";
import { createRunHelm, helmEnvironment, writePodKubeconfig } from "./helm/index.ts";
import { createHubConnector } from "./hubclient/index.ts";
import { createIdentityController, createIdentityStore } from "./identity/index.ts";
import { agentGrants } from "./impersonation/index.ts";
import { createInstaller } from "./installer.ts";
import { createProcessWatch, processLimits } from "./process/index.ts";

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
  const { impersonationNamespaces } = config;
  const grantOf = agentGrants(impersonationNamespaces);
  const rest = connectKube(kubeconfig, { userAgent: `flotilla-agent/${buildVersion}`, grantOf });
  const charts = createSourceClient({
    userAgent: `flotilla-agent/${buildVersion}`,
    log,
    ...(config.proxy !== undefined && { proxy: config.proxy }),
  });
  const helmHome = join(config.dataDir, "helm");
  await mkdir(helmHome, { recursive: true, mode: 0o700 });

  const podKubeconfig =
    config.kubeconfig === undefined ? await writePodKubeconfig(helmHome, kubeconfig) : undefined;
  const limits = processLimits(availableMemoryBytes());
  const watch = createProcessWatch(limits);
  const { memoryBytes } = limits.helm;
  const runHelm = createRunHelm({
    path: config.helm,
    environment: helmEnvironment(
      {
        environment: config.helmEnvironment,
        kubeconfig: config.kubeconfig ?? podKubeconfig,
        context: config.context,
        memoryBytes,
      },
      helmHome,
    ),
    limited: { watch, limits: limits.helm },
    grantOf,
  });
  const compileCache = getCompileCacheDir();
  const connectHub = createHubConnector();
  const identity = createIdentityController({
    store: createIdentityStore(rest, agentNamespace, log),
    connectHub,
    clock,
    log,
  });
  const connection = createHubConnection({
    identity,
    connectHub,
    agentVersion: buildVersion,
    agentNamespace,
    clock,
    log,
  });
  const installer = createInstaller({
    rest,
    impersonationNamespaces,
    charts,
    runHelm,
    limited: { watch, limits: limits.reader },
    // Starting a reader takes half as long if it need not compile its sources.
    readerEnvironment: compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache },
    outbox: connection.outbox,
    dataDir: config.dataDir,
    concurrency: config.concurrency,
    clock,
    log,
    metrics,
  });

  const health = await startHealthServer({
    listen: config.internalListen,
    metrics,
    notReady: () =>
      connection.isConnected ? undefined : `not connected to the hub: ${connection.lastError}`,
  });
  try {
    const assignments = await installer.load();
    log.info({ health: health.address, assignments }, "agent is ready");
    // Stored assignments are reconciled whether or not the hub can be reached.
    await Promise.all([installer.run(signal), connection.run(installer.intake, signal)]);
  } finally {
    await installer.close();
    await Promise.all([charts.close(), health.close(), rest.close()]);
  }
});
