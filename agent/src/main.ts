/** The agent: keeps in its cluster what the hub assigned, and tells the hub how it is. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { buildVersion } from "@flotilla/shared/about/build-version.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { createChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import { createChartClient } from "@flotilla/shared/charts/chart-client.ts";
import { systemClock as clock } from "@flotilla/shared/clock/clock.ts";
import { startHealthServer } from "@flotilla/shared/health/health-server.ts";
import { connectKube } from "@flotilla/shared/kube/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/kubeconfig.ts";
import { createLog } from "@flotilla/shared/log/log.ts";
import { runProgram } from "@flotilla/shared/process/run-program.ts";
import { collectDefaultMetrics, Registry } from "prom-client";
import { createActors } from "./acting/actors.ts";
import { createAssignmentStorage } from "./assignment/assignment-storage.ts";
import { createAssignments } from "./assignment/assignments.ts";
import { agentUsage, parseAgentConfig } from "./config.ts";
import { createCopies } from "./copies/copies.ts";
import { createCopyWanters } from "./copies/copy-wanters.ts";
import { createDeployer } from "./engine/deployer.ts";
import { createEngine } from "./engine/engine.ts";
import { createRunNotes } from "./engine/run-notes.ts";
import { helmEnvironment } from "./helm/helm-environment.ts";
import { createReleases } from "./helm/releases.ts";
import { createRunHelm } from "./helm/run-helm.ts";
import { createIdentityKeeper } from "./identity/identity-keeper.ts";
import { createIdentityStore } from "./identity/identity-store.ts";
import { createInputs } from "./inputs/inputs.ts";
import { createHubConnector } from "./link/hub-client.ts";
import { createLink } from "./link/link.ts";
import { createReadinessTracker } from "./readiness/tracker.ts";
import { createFacts } from "./supply/facts.ts";
import { createSupplies } from "./supply/supplies.ts";
import { createTemplateGuard } from "./templates/template-guard.ts";
import { createRenderValues } from "./values/render-values.ts";

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
  const charts = createChartClient({ userAgent: `flotilla-agent/${buildVersion}`, log });
  const helmHome = join(config.dataDir, "helm");
  await mkdir(helmHome, { recursive: true, mode: 0o700 });

  const assignments = createAssignments({
    storage: createAssignmentStorage({ rest, log }),
    log,
  });
  const supplies = createSupplies({ rest, log });
  const facts = createFacts({ rest, log });
  const releases = createReleases({ rest, clock, log });
  const readiness = createReadinessTracker({ rest, log, clock });
  const notes = createRunNotes(join(config.dataDir, "runs"), log);
  const runHelm = createRunHelm({
    path: config.helm,
    environment: helmEnvironment(config, helmHome),
  });
  const actors = createActors({ connection: rest, namespace: agentNamespace, log });
  const copies = createCopies({ rest, wanters: createCopyWanters(assignments), clock, log });
  const inputs = createInputs({
    rest,
    supplies,
    facts,
    renderValues: createRenderValues({ runHelm, dir: join(config.dataDir, "values") }),
    clock,
    log,
  });
  const deployer = createDeployer({
    rest,
    actors,
    assignments,
    copies,
    inputs,
    releases,
    charts: createChartCache({ open: charts.open, log }, { dir: join(config.dataDir, "charts") }),
    checkTemplates: createTemplateGuard(),
    supplies,
    facts,
    runHelm,
    notes,
    clock,
    log,
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
  const engine = createEngine({
    inputs,
    copies,
    actors,
    assignments,
    releases,
    deployer,
    readiness,
    supplies,
    facts,
    outbox: link.outbox,
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
  const watching = new AbortController();
  const watches = Promise.all(
    [releases, readiness, actors, copies].map((watched) => watched.run(watching.signal)),
  );
  try {
    await notes.recover();
    await Promise.all([assignments.load(), supplies.load(), facts.load()]);
    await Promise.all([releases.synced, actors.synced, copies.synced]);
    log.info({ health: health.address, held: assignments.list().length }, "agent is ready");
    // What was assigned before is carried on whether or not the hub can be reached.
    await Promise.all([engine.run(signal), link.run(engine.intake, signal)]);
  } finally {
    watching.abort();
    await Promise.all([watches, inputs.end()]);
    await Promise.all([charts.close(), health.close(), rest.close()]);
  }
});
