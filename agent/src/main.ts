/** The agent: installs in its cluster what the hub assigns, and reports its state to the hub, while it is the active one. */
import { mkdir } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { createLog } from "@flotilla/shared/log";
import { createProcessWatch } from "@flotilla/shared/process";
import { availableMemoryBytes, runProgram, startHealthServer } from "@flotilla/shared/program";
import { createSourceClient } from "@flotilla/shared/source/client";
import { createGitClient } from "@flotilla/shared/source/git";
import { followExtraAuthorities } from "@flotilla/shared/source/transport";
import { systemClock as clock } from "@flotilla/shared/time";
import { collectDefaultMetrics, Registry } from "prom-client";
import { type ActiveAgent, createActiveAgent } from "./active-agent.ts";
import { agentGrants, limitsWithChildren, processLimits } from "./base/index.ts";
import { agentUsage, parseAgentConfig } from "./config.ts";
import { createProcessRecords, helmEnvironment, writePodKubeconfig } from "./helm/index.ts";
import { lead, readinessOf } from "./process/index.ts";
import { openSandbox } from "./sandbox/index.ts";
import { createHubConnector } from "./state/index.ts";

await runProgram("flotilla-agent", agentUsage, async (signal) => {
  const config = parseAgentConfig(process.argv.slice(2), process.env);
  const { dataDir, chartCacheBytes, maxChartBytes, concurrency, replica: identity } = config;
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
  const userAgent = `flotilla-agent/${buildVersion}`;
  const rest = connectKube(kubeconfig, { userAgent, grantOf });
  const leaseRest = connectKube(kubeconfig, { userAgent, grantOf, connections: 1 });
  const charts = createSourceClient({
    userAgent,
    log,
    ...(config.proxy !== undefined && { proxy: config.proxy }),
  });
  const helmHome = join(dataDir, "helm");
  await mkdir(helmHome, { recursive: true, mode: 0o700 });

  const podKubeconfig =
    config.kubeconfig === undefined ? await writePodKubeconfig(helmHome, kubeconfig) : undefined;
  const limits = processLimits(availableMemoryBytes());
  const watch = createProcessWatch(limits);
  const { memoryBytes } = limits.helm;
  const records = createProcessRecords(join(dataDir, "runs"), log);
  await records.recover();
  const helm = {
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
    records,
    limited: { watch, limits: limits.helm },
    grantOf,
  };
  const git = createGitClient({
    dir: join(dataDir, "git"),
    userAgent,
    proxy: config.proxy,
    egress: { allowLoopback: true },
    limits: { maxReceivedBytes: config.gitBytes, maxBytes: config.gitBytes },
    processes: { watch, limits: limitsWithChildren(limits.helm) },
  });
  const { PATH } = config.helmEnvironment;
  const environment = PATH === undefined ? {} : { PATH };
  const sandbox = await openSandbox({
    launcher: config.confine,
    environment,
    program: "kustomize",
    // Post-renderers have always run on older kernels, too.
    least: "Unconfined",
    log,
  });
  const kustomize = { path: config.kustomize, environment, sandbox };
  const compileCache = getCompileCacheDir();
  const deps = {
    rest,
    impersonationNamespaces,
    charts,
    git,
    helm,
    kustomize,
    connectHub: createHubConnector(),
    limited: { watch, limits: limits.reader },
    // Starting one takes half as long if it need not compile its sources.
    readerEnvironment: compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache },
    dataDir,
    chartCacheBytes,
    maxChartBytes,
    concurrency,
    clock,
    log,
    metrics,
  };

  let active: ActiveAgent | undefined;
  const closing: Promise<void>[] = [];
  const election = lead({
    rest: leaseRest,
    identity,
    clock,
    log,
    async run(leading, leadership) {
      const agent = createActiveAgent(deps, leadership);
      active = agent;
      try {
        await agent.run(leading);
      } finally {
        active = undefined;
        // The Lease is released before.
        closing.push(agent.close());
      }
    },
  });
  const readiness = () =>
    readinessOf({
      identity,
      holder: election.holder,
      isLeading: election.isLeading,
      isConnected: active?.connection.isConnected ?? false,
      connectionError: active?.connection.lastError ?? "",
    });
  const health = await startHealthServer({
    listen: config.internalListen,
    metrics,
    notReady: () => (readiness().isReady ? undefined : readiness().message),
    ready: () => readiness().message,
  });
  log.info({ health: health.address, replica: identity }, "agent has started");
  const ending = new AbortController();
  const following = followExtraAuthorities(
    { file: config.extraAuthorities, clock, log },
    ending.signal,
  );
  try {
    await election.run(signal);
  } finally {
    ending.abort();
    await Promise.all([...closing, following]);
    await Promise.all([charts.close(), health.close(), rest.close(), leaseRest.close()]);
  }
});
