/**
 * A cluster in memory, and agents for one deployment in it, of which each goes on where the one before has ended: the real reconciler,
 * deployer, actions, inventory and stores, with a Helm in memory. A crash lets the write that it happens at, and so all that
 * follows it, wait for ever: nothing of that agent runs any more.
 */
import { createHash } from "node:crypto";
import type { DeploymentState } from "@flotilla/proto";
import { type DeploymentContent, packContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import type { Result } from "@flotilla/shared/kube/controller";
import { configMaps } from "@flotilla/shared/kube/objects";
import {
  aContext,
  createMemoryApiServer,
  type MemoryApiServer,
  serverError,
} from "@flotilla/shared/kube/testing";
import type { PlanResult } from "@flotilla/shared/plan";
import { createFakeClock, type FakeClock, settle } from "@flotilla/shared/time/testing";
import type { ImpersonatedClient } from "../../../base/impersonation/impersonated-clients.ts";
import { createLimitRecords } from "../../../base/process/limit-records.ts";
import { createSecretStorage } from "../../../base/storage/secret-storage.ts";
import { createReleases } from "../../../helm/cli/releases.ts";
import type { ReadRecords } from "../../../helm/record/read-records.ts";
import { readRecordsHere } from "../../../helm/record/testing/index.ts";
import { createDependencyTracker } from "../../../inputs/dependencies/dependency-tracker.ts";
import { createInputCollector } from "../../../inputs/values/release-inputs.ts";
import { createFetchedSources } from "../../../observe/report/fetched-sources.ts";
import { createAssignmentStorage } from "../../../state/assignment/assignment-storage.ts";
import { type Assignments, createAssignments } from "../../../state/assignment/assignments.ts";
import { createReferrers } from "../../../state/assignment/content-index.ts";
import type { AssignmentRequest } from "../../../state/assignment/intake.ts";
import {
  type AssignmentsOf,
  createReleaseAssignments,
  type ReleaseAssignments,
} from "../../../state/assignment/release-assignments.ts";
import { createInventory } from "../../../state/inventory/create-inventory.ts";
import { createClusterInfoStore } from "../../../state/referenced/cluster-info.ts";
import { createReferencedObjects } from "../../../state/referenced/referenced-objects.ts";
import type { DeployerDeps } from "../deploy.ts";
import { createDeployer } from "../deployer.ts";
import { Reconciler } from "../reconciler.ts";
import { Statuses } from "../statuses.ts";
import { createLoggedDecisions, type LoggedDecisions } from "./logged-decisions.ts";
import { createMemoryHelm, type MemoryHelm } from "./memory-helm.ts";
import { createDrift, createReadiness, type ObservedObjects } from "./observed-objects.ts";

export interface TestCluster extends ObservedObjects, LoggedDecisions {
  readonly server: MemoryApiServer;
  readonly helm: MemoryHelm;
  /** Deployments whose withdrawal was confirmed. */
  readonly withdrawn: string[];
  /** What was reported of them, the oldest first. */
  readonly reports: DeploymentState[];
  /** Reads each record once. */
  readonly records: ReadRecords;
  /** What a plan says that is made right before Helm runs, or what prevents it. */
  planned: PlanResult | Error;
  /** How often one was made. */
  plans: number;
  /** The clock of the agent that runs now. */
  clock: FakeClock;
  /** Ends the agent at this write from now on, the first one being 1. The result resolves when it has. */
  crashAtWrite(write: number): Promise<void>;
  /** Fails this write from now on, the first one being 1: the agent goes on. */
  failWrite(write: number): void;
  /** Those since the last call of either. */
  readonly writes: readonly string[];
}

export function createTestCluster(): TestCluster {
  const server = createMemoryApiServer();
  const writes: string[] = [];
  return {
    server,
    helm: createMemoryHelm(server),
    ...createLoggedDecisions(),
    isReady: true,
    unready: new Set(),
    drifted: new Set(),
    withdrawn: [],
    reports: [],
    records: createReadOnce(),
    planned: new Error("nothing is planned"),
    plans: 0,
    clock: createFakeClock(),
    writes,
    async crashAtWrite(write) {
      const { promise, resolve } = Promise.withResolvers<void>();
      writes.length = 0;
      server.beforeWrite = async (text) => {
        writes.push(text);
        if (writes.length !== write) return;
        resolve();
        await new Promise(() => undefined);
      };
      await promise;
    },
    failWrite(write) {
      writes.length = 0;
      server.beforeWrite = (text) => {
        writes.push(text);
        if (writes.length === write) throw serverError();
      };
    },
  };
}

/** What the hub wants of the deployment. */
export interface DesiredDeployment extends Pick<AssignmentRequest, "request" | "verification"> {
  /** The version of the chart. */
  readonly version: string;
  readonly content?: Partial<DeploymentContent>;
  readonly withdraws?: boolean;
}

type Parts = ReturnType<typeof createInventory>;

export interface TestAgent {
  readonly inventory: Parts["inventory"];
  readonly attempts: Parts["attempts"];
  readonly requests: Parts["requests"];
  readonly assignments: Assignments;
  readonly assigned: ReleaseAssignments;
  /** By the id of a release. */
  reconcile(id: string): Promise<Result>;
  /** As when its drift or readiness has changed. */
  report(id: string): void;
  /** The ids of the releases that were enqueued since the last call. */
  takeEnqueued(): Promise<readonly string[]>;
  /** As the hub sends it, once or again. */
  assign(desired: DesiredDeployment): Promise<void>;
  /**
   * Reconciles the deployment when its records change and when a retry is due, until it waits for a change, or a failure is not retried
   * before an hour, or Helm has run this often. Returns the result.
   */
  settle(maxRuns?: number): Promise<string>;
  stop(): void;
}

export const owner = { name: "web", uid: "uid-web" };
const stopCodes = ["RETRIES_EXCEEDED", "ROLLBACK_TARGET_MISSING"];

/** More passes than any row needs. */
const maxPasses = 60;

/** `assignmentsOf`: the releases of a deployment; absent: it has one. */
export async function startAgent(
  cluster: TestCluster,
  assignmentsOf?: AssignmentsOf,
): Promise<TestAgent> {
  const { server: rest, helm, log } = cluster;
  // Timers of an agent that has ended are not run any more.
  const clock = createFakeClock(cluster.clock.now());
  cluster.clock = clock;
  const ending = new AbortController();
  const secrets = createSecretStorage(rest);
  const assignments = createAssignments({ storage: createAssignmentStorage({ rest, log }), log });
  const assigned = createReleaseAssignments(assignments, assignmentsOf);
  const { documents, inventory, attempts, requests } = createInventory({ rest, log });
  const releases = createReleases({ rest, inventory, clock, log });
  const referenced = createReferencedObjects({ secrets, log });
  const clusterInfo = createClusterInfoStore({ secrets, log });
  const sources = createFetchedSources();
  const readiness = createReadiness(cluster);
  const base = {
    rest,
    assignments,
    assigned,
    inventory,
    attempts,
    requests,
    releases,
    referenced,
    clusterInfo,
    sources,
  };
  const common = { ...base, readiness, drift: createDrift(cluster), clock, log };
  const statuses = new Statuses({
    ...common,
    outbox: { report: (state) => void cluster.reports.push(state) },
    onState: () => undefined,
  });
  const dependencies = createDependencyTracker({
    assignments,
    stateOf: (deployment) => statuses.reportedStateOf(deployment),
    enqueue: () => undefined,
  });
  const inputs = createInputCollector({
    ...common,
    renderValues: () => Promise.reject(new Error("no values are templates")),
    readYaml: () => Promise.reject(new Error("no values are read")),
  });
  const reconciler = new Reconciler({
    ...common,
    ...{ statuses, dependencies },
    deployer: createDeployer({
      ...common,
      ...inProcess,
      inputs,
      records: cluster.records,
      clients: clientsOf(cluster),
      planNow() {
        cluster.plans += 1;
        const { planned } = cluster;
        return planned instanceof Error ? Promise.reject(planned) : Promise.resolve(planned);
      },
      limitRecords: createLimitRecords({ secrets, clock, log }),
      runHelm: helm.run,
    }),
    referrers: createReferrers(assigned, () => []),
    withdrawn: { removeUnreferenced: () => Promise.resolve() },
    outbox: { withdrawn: ({ name }) => void cluster.withdrawn.push(name) },
  });
  /** Changes since the last reconcile began. */
  const enqueued: string[] = [];
  const enqueue = (id: string): void => void enqueued.push(id);
  releases.onChange(enqueue);
  assigned.onChange((id) => {
    reconciler.assignmentChanged(id);
    enqueue(id);
  });
  void releases.run(ending.signal);
  if (!(await documents.load())) await documents.storeKey();
  await assignments.load();
  await releases.synced;

  function resultOf(): string {
    const own = statuses.get(owner.name);
    if (own === undefined) return cluster.withdrawn.length > 0 ? "withdrawn" : "unknown";
    const { result } = own;
    return "code" in result ? `${result.kind} ${result.code}` : result.kind;
  }

  return {
    inventory,
    attempts,
    requests,
    assignments,
    assigned,
    reconcile: (id) => reconciler.reconcile(id, aContext()),
    report: (id) => statuses.report(id),
    async takeEnqueued() {
      // What the watch delivers.
      await settle();
      return enqueued.splice(0);
    },
    async assign({ version, content, request, verification, withdraws = false }) {
      const url = `https://charts.example.com/app-${version}.tgz`;
      const { deploymentId, bytes } = await packContent({
        ...testContent,
        pin: { kind: "tarball", url },
        ...content,
      });
      await assignments.assign({
        ...{ deployment: owner, deploymentId, content: bytes, paused: false },
        ...(request !== undefined && { request }),
        ...(verification !== undefined && { verification }),
      });
      if (withdraws) await assignments.withdraw(owner);
    },
    async settle(maxRuns = Number.POSITIVE_INFINITY) {
      for (let pass = 0; pass < maxPasses; pass += 1) {
        // What the watch delivers.
        await settle();
        enqueued.length = 0;
        const next = await reconciler.reconcile(owner.name, aContext());
        await settle();
        if (enqueued.length > 0) continue;
        const result = resultOf();
        const isStopped = stopCodes.some((code) => result.endsWith(code));
        if (next.kind === "done" || isStopped || helm.runs.length >= maxRuns) return result;
        await clock.advance(next.afterMs);
      }
      throw new Error(`not settled after ${maxPasses} passes: ${helm.runs.join("; ")}`);
    },
    stop: () => ending.abort(),
  };
}

/** Without retries, waits and a limit of its history. */
export const testContent: DeploymentContent = {
  ...plainContent,
  helm: { ...plainContent.helm, maxHistory: 0 },
};

/** What runs child processes, or has watches of its own, in a real agent. */
const inProcess = {
  charts: {
    fetch(pin) {
      const url = pin.kind === "tarball" ? pin.url : "";
      const digest = `sha256:${createHash("sha256").update(url).digest("hex")}`;
      return Promise.resolve({ path: url, digest, sizeBytes: 0, release: () => undefined });
    },
  },
  checkTemplates: () => Promise.resolve({ name: "app", version: "", hasPostHooks: false }),
  prepareCheck: () => undefined,
  withPostRenderers: (_, runHelm) => runHelm,
  withDefinitions: () => Promise.resolve(undefined),
  downstream: {
    apply: () => Promise.resolve(),
    has: () => false,
    remove: () => Promise.resolve(),
    forget: () => undefined,
  },
} satisfies Partial<DeployerDeps>;

function clientsOf({ server: rest }: TestCluster): DeployerDeps["clients"] {
  const client: ImpersonatedClient = {
    ...{ subject: "the agent itself", isAgent: true, rest, helmArgs: [] },
    watch: { subject: "the agent", rest, isPerNamespace: false },
  };
  return {
    isRequired: false,
    clientFor: () => Promise.resolve(client),
    isGone: () => Promise.resolve(false),
  };
}

/** A record is read with each run of Helm, and most of the time of a test would be that of unpacking it. */
function createReadOnce(): ReadRecords {
  const known = new Map<string, ReturnType<ReadRecords["stored"]>>();
  return {
    ...readRecordsHere,
    stored(stored, what) {
      const found = known.get(stored) ?? readRecordsHere.stored(stored, what);
      known.set(stored, found);
      return found;
    },
  };
}

/** What is left of a deployment in a cluster, without what differs between two ways to the same end, such as numbers of revisions. */
export function endOf(cluster: TestCluster, { attempts, requests }: TestAgent) {
  const { name } = owner;
  const { token, result } = requests.requestOf(name) ?? {};
  const places = [
    { namespace: "shop", name: "app" },
    { namespace: "market", name: "app" },
  ];
  return {
    installed: places.flatMap((place) => {
      const newest = cluster.helm.releases(place).at(-1);
      const { data } = cluster.server.peek(configMaps, place) ?? {};
      if (newest === undefined && data === undefined) return [];
      const { info, chart } = newest ?? {};
      return `${place.namespace}: ${info?.status} ${chart?.metadata.version}, runs ${data?.["version"]}`;
    }),
    failures: attempts.failedAttemptsOf(name)?.count,
    openRun: attempts.runOf(name) !== undefined,
    deadline: attempts.deadlineOf(name) !== undefined,
    handledRequest: requests.handledRequestOf(name),
    request: { token, result: result?.result, code: result?.code },
  };
}

/** Why the newest revision was made. */
export function reasonsOf({ inventory }: TestAgent): readonly string[] | undefined {
  const revisions = inventory.releasesOf(owner.name).at(-1)?.revisions ?? [];
  return revisions.toSorted((a, b) => a.revision - b.revision).at(-1)?.reasons;
}
