/** The agent without its connection: reconciles what the hub assigned, and reports it to an outbox. */
import { join } from "node:path";
import { contentErrors } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { KubeConnection } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { ProcessLimits, ProcessWatch } from "@flotilla/shared/process";
import { ChartCache } from "@flotilla/shared/source/cache";
import type { SourceClient } from "@flotilla/shared/source/client";
import type { GitClient } from "@flotilla/shared/source/git";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import {
  createImpersonatedClients,
  createLimitRecords,
  createSecretStorage,
} from "./base/index.ts";
import {
  createFetchArchive,
  createPostRenderers,
  createReleases,
  createTemplateGuard,
  type KustomizeProgram,
  type RunHelm,
} from "./helm/index.ts";
import {
  createBuildCharts,
  createDownstreamReferrers,
  createDownstreamResources,
  createInputCollector,
  createReadCalls,
  createReaders,
  createReadRecords,
  createReadTemplates,
  createReadYaml,
  createRenderValues,
  createWithDefinitions,
} from "./inputs/index.ts";
import { type AnswerRequest, createAnswers } from "./link/index.ts";
import {
  createDiscovery,
  createFetchedSources,
  DriftTracker,
  type Outbox,
  ReadinessTracker,
} from "./observe/index.ts";
import { createPlanNow, createPlanner, createPlanQueue, type PlanQueue } from "./plan/index.ts";
import { createDeployer, createEngine, type Deployer, takeOver } from "./release/index.ts";
import {
  createAssignmentStorage,
  createAssignments,
  createClusterInfoStore,
  createInventory,
  createReferencedObjects,
  createReleaseAssignments,
  type Intake,
} from "./state/index.ts";

export interface InstallerDeps {
  readonly rest: KubeConnection;
  /** Impersonation is required, with service accounts of these namespaces. */
  readonly impersonationNamespaces?: readonly string[] | undefined;
  readonly charts: SourceClient;
  readonly git: Pick<GitClient, "checkout">;
  readonly runHelm: RunHelm;
  readonly kustomize: KustomizeProgram;
  /** The limits of the readers. Helm has its own. */
  readonly limited: { readonly watch: ProcessWatch; readonly limits: ProcessLimits };
  /** The environment of readers, and of the plugin of Helm besides Helm's own: nothing else is inherited. */
  readonly readerEnvironment: Readonly<Record<string, string>>;
  readonly outbox: Outbox;
  /** For charts, and files for Helm. */
  readonly dataDir: string;
  /** The limit of the charts on disk that are not in use; absent: the cache's own limit. */
  readonly chartCacheBytes?: number;
  /** The limit of one chart; absent: the cache's own limit. */
  readonly maxChartBytes?: number;
  /** Helm processes at a time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  /** See UpgradeDeps. */
  readonly supersededGraceMs?: number;
}

export interface Installer {
  /** Handles what the hub sends. */
  readonly intake: Intake;
  /** Answers requests of users. */
  readonly answer: AnswerRequest;
  /** Resolves when everything that was stored is loaded, with the number of assignments. */
  load(): Promise<number>;
  /** See Engine. Must be called after `load`. */
  run(signal: AbortSignal, abort?: AbortSignal): Promise<void>;
  /** Ends all watches. */
  close(): Promise<void>;
}

function chartLimits({ chartCacheBytes: maxBytes, maxChartBytes }: InstallerDeps) {
  return {
    ...(maxBytes !== undefined && { maxBytes }),
    ...(maxChartBytes !== undefined && { maxChartBytes }),
  };
}

/** Plans wait for what it does. */
function countedDeployer(deployer: Deployer, queue: Pick<PlanQueue, "deploying">): Deployer {
  return {
    ...deployer,
    deploy: (assignment, pass) => queue.deploying(() => deployer.deploy(assignment, pass)),
    withdraw: (assignment, signal) => queue.deploying(() => deployer.withdraw(assignment, signal)),
  };
}

export function createInstaller(deps: InstallerDeps): Installer {
  const { rest, impersonationNamespaces, runHelm, dataDir, clock, log } = deps;
  const isPerAccount = impersonationNamespaces !== undefined;
  const storage = createAssignmentStorage({ rest, log });
  const assignments = createAssignments({ storage, log });
  const assigned = createReleaseAssignments(assignments);
  const secrets = createSecretStorage(rest);
  const referenced = createReferencedObjects({ secrets, log });
  const clusterInfo = createClusterInfoStore({ secrets, log });
  const { documents, inventory, attempts, requests } = createInventory({ rest, log });
  const releases = createReleases({ rest, inventory, isPerAccount, clock, log });
  const readiness = new ReadinessTracker({ rest, log, clock });
  const drift = new DriftTracker({ readiness, clock, log });
  const clients = createImpersonatedClients({
    connection: rest,
    namespaces: impersonationNamespaces,
    log,
  });
  const referrers = createDownstreamReferrers(assigned);
  const downstream = createDownstreamResources({
    rest,
    referrers,
    inventory,
    isPerAccount,
    clock,
    log,
  });
  const limitRecords = createLimitRecords({ secrets, clock, log });
  const readers = createReaders({
    ...deps.limited,
    records: limitRecords,
    maxReaders: deps.concurrency,
    environment: deps.readerEnvironment,
  });
  const renderValues = createRenderValues({
    runHelm,
    limitRecords,
    readTemplates: createReadTemplates(readers),
    dir: join(dataDir, "values"),
  });
  const readYaml = createReadYaml(readers);
  const records = createReadRecords(readers);
  const inputs = createInputCollector({
    referenced,
    clusterInfo,
    renderValues,
    readYaml,
    clock,
    log,
  });
  const charts = new ChartCache(
    {
      fetch: createFetchArchive({
        charts: deps.charts,
        git: deps.git,
        buildChart: createBuildCharts(readers),
        dir: join(dataDir, "builds"),
      }),
      log,
    },
    { dir: join(dataDir, "charts"), ...chartLimits(deps) },
  );
  const stores = {
    assignments,
    assigned,
    documents,
    inventory,
    attempts,
    requests,
    referenced,
    clusterInfo,
  };
  const shared = {
    ...deps,
    ...stores,
    clients,
    downstream,
    inputs,
    sources: createFetchedSources(),
  };
  const rendering = {
    records,
    charts,
    checkTemplates: createTemplateGuard(createReadCalls(readers)),
    withDefinitions: createWithDefinitions(readers, join(dataDir, "definitions")),
    withPostRenderers: createPostRenderers({
      kustomize: deps.kustomize,
      pluginEnvironment: deps.readerEnvironment,
      dir: join(dataDir, "post-renderers"),
    }),
    limitRecords,
  };
  const discovery = createDiscovery(rest, clock);
  const reading = {
    assigned,
    inventory,
    attempts,
    clients,
    records,
    inputs,
    findResource: async (apiVersion: string, kind: string, signal: AbortSignal) => {
      const found = await discovery.find(apiVersion, kind, signal);
      return found.kind === "found" ? found.resource : found.why;
    },
  };
  const planning = { ...reading, ...rendering, referenced, clusterInfo, runHelm, clock };
  const queue = createPlanQueue({ clock });
  const deployer = countedDeployer(
    createDeployer({
      ...shared,
      ...rendering,
      planNow: createPlanNow(planning),
      drift,
      releases,
      prepareCheck: readers.prepare,
    }),
    queue,
  );
  const engine = createEngine({
    ...shared,
    processes: deps.limited.watch,
    releases,
    deployer,
    readiness,
    drift,
  });
  const closing = new AbortController();
  let watches: Promise<unknown> = Promise.resolve();

  /** The first start of a new agent, or of one that replaces version 0.1.0, which had no inventory. */
  async function startInventory(): Promise<void> {
    const lost = assigned.list().filter(({ content }) => content.length > 0);
    // Only an account can find what it installed: when its deployment is reconciled.
    for (const assignment of isPerAccount ? [] : lost) {
      try {
        await takeOver({ rest, records, inventory, log }, assignment);
      } catch (thrown) {
        // Its reconcile reports it.
        if (AppError.from(thrown).code !== contentErrors.CONTENT_INVALID.code) throw thrown;
      }
    }
    // Last, so that it is repeated if the agent ends before.
    await documents.storeKey();
  }

  const plan = createPlanner({ ...planning, queue });
  return {
    intake: engine.intake,
    answer: createAnswers({ ...reading, releases, plan }),
    async load() {
      watches = Promise.all(
        [releases, readiness, drift, clients, downstream].map((cache) => cache.run(closing.signal)),
      );
      await limitRecords.load();
      const [hasInventory] = await Promise.all([
        documents.load(),
        assignments.load(),
        referenced.load(),
        clusterInfo.load(),
      ]);
      if (!hasInventory) await startInventory();
      await Promise.all([releases.synced, clients.synced, downstream.synced]);
      return assignments.list().length;
    },
    run: engine.run,
    async close() {
      closing.abort();
      await Promise.all([watches, inputs.end(), readers.close()]);
    },
  };
}
