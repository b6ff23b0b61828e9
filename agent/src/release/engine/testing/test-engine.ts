/** The engine with all that it watches in the hands of the test: what enqueues which releases. */
import { AppError } from "@flotilla/shared/errors";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, type FakeClock, settle } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { createSecretStorage } from "../../../base/storage/secret-storage.ts";
import { createFetchedSources } from "../../../observe/report/fetched-sources.ts";
import { createAssignmentStorage } from "../../../state/assignment/assignment-storage.ts";
import { type Assignments, createAssignments } from "../../../state/assignment/assignments.ts";
import { createReleaseAssignments } from "../../../state/assignment/release-assignments.ts";
import type { FailedAttempts } from "../../../state/inventory/inventory-secret.ts";
import {
  type ClusterInfoStore,
  createClusterInfoStore,
} from "../../../state/referenced/cluster-info.ts";
import {
  createReferencedObjects,
  type ReferencedObjects,
} from "../../../state/referenced/referenced-objects.ts";
import type { DeployPass, DeployResult, InSync } from "../../action/deploy-pass.ts";
import { createEngine } from "../engine.ts";
import { createDrift, createReadiness, type ObservedObjects } from "./observed-objects.ts";

/** What a pass over a release comes to. */
export type PassResult = "deployed" | "progressing" | "blocked" | AppError;

interface TestEngineOptions {
  /** Called for each pass over a release, by its deployment. */
  readonly deploy: (name: string, pass: DeployPass) => Promise<PassResult> | PassResult;
  /** What the inventory counts of the attempts at a release. */
  readonly failedAttempts?: FailedAttempts | undefined;
  /** A deployment that waits for its objects to become ready. */
  readonly awaited?: string | undefined;
}

/** The ids of releases. */
type Ids = ReadonlySet<string>;

/** What the engine watches: each emits a change. */
export interface TestEngine extends Pick<ObservedObjects, "unready" | "drifted"> {
  readonly assignments: Assignments;
  readonly referenced: ReferencedObjects;
  readonly clusterInfo: ClusterInfoStore;
  readonly recordsChanged: (id: string) => void;
  readonly releaseRemoved: () => void;
  readonly recordsReadable: (ids: Ids) => void;
  readonly readinessChanged: (id: string) => void;
  readonly driftChanged: (id: string) => void;
  readonly compared: (id: string) => void;
  readonly accountsChanged: () => void;
  readonly valuesChanged: (ids: Ids) => void;
  readonly downstreamChanged: (ids: Ids) => void;
  readonly clock: FakeClock;
  /**
   * The passes since the last call, sorted: `web`, `web in its backoff`, `web withdrawn`, and `web starts over` if no failed attempts are
   * counted any more. Waits until there are so many, and what else can happen without I/O.
   */
  takePasses(count: number): Promise<readonly string[]>;
  /** Waits until a state of a deployment is reported, which the result of a pass is some time after it began. */
  reported(name: string): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Runs until `stop`. */
export function startTestEngine({
  deploy,
  failedAttempts,
  awaited,
}: TestEngineOptions): TestEngine {
  const [clock, log, server] = [createFakeClock(), silentLog(), createMemoryApiServer()];
  const observed: ObservedObjects = { isReady: true, unready: new Set(), drifted: new Set() };
  const secrets = createSecretStorage(server);
  const assignments = createAssignments({
    storage: createAssignmentStorage({ rest: server, log }),
    log,
  });
  const [referenced, clusterInfo] = [
    createReferencedObjects({ secrets, log }),
    createClusterInfoStore({ secrets, log }),
  ];
  const passes: string[] = [];
  const reported = new Set<string>();
  let happened: () => void = () => undefined;
  function note(pass: string): void {
    passes.push(pass);
    happened();
  }
  // Contents are unpacked by threads.
  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue())
      await new Promise<void>((resolve) => {
        happened = resolve;
      });
  }

  async function pass(name: string, deployPass: DeployPass): Promise<DeployResult> {
    const { retryAtMs = 0 } = deployPass;
    note(retryAtMs > clock.now() ? `${name} in its backoff` : name);
    const result = await deploy(name, deployPass);
    if (result instanceof AppError) throw result;
    if (result === "blocked")
      return { kind: "blocked", unmet: { message: "waiting for db", names: ["db"] } };
    if (result === "deployed") return inSync(server);
    return { kind: "progressing", found: inSync(server), untilMs: clock.now() + 60 * 60_000 };
  }

  const records = { changed: emitter<string>(), removed: emitter(), readable: emitter<Ids>() };
  const objects = {
    ready: emitter<string>(),
    drift: emitter<string>(),
    compared: emitter<string>(),
  };
  const inputs = {
    accounts: emitter(),
    values: emitter<Ids>(),
    downstream: emitter<Ids>(),
  };
  const engine = createEngine({
    ...{ assignments, referenced, clusterInfo, clock, log },
    assigned: createReleaseAssignments(assignments),
    clients: { onChange: inputs.accounts.on },
    inputs: { onChange: inputs.values.on },
    downstream: { onChange: inputs.downstream.on },
    releases: {
      onChange: records.changed.on,
      onRemoved: records.removed.on,
      onReadable: records.readable.on,
      history: () => [],
    },
    inventory: { releasesOf: () => [], knows: () => false },
    documents: { isComplete: true, setComplete: () => Promise.resolve() },
    attempts: {
      failedAttemptsOf: () => failedAttempts,
      deadlineOf: (id) => (id === awaited ? deadline : undefined),
      setFailedAttempts(id) {
        note(`${id} starts over`);
        return Promise.resolve();
      },
    },
    requests: {
      handledRequestOf: () => undefined,
      requestOf: () => undefined,
      acceptRequest: () => Promise.resolve(),
      answerRequest: () => Promise.resolve(),
    },
    deployer: {
      deploy: ({ owner }, deployPass) => pass(owner.name, deployPass),
      installed: () => Promise.resolve(undefined),
      withdraw({ owner }) {
        note(`${owner.name} withdrawn`);
        return Promise.resolve();
      },
    },
    readiness: { ...createReadiness(observed), onChange: objects.ready.on },
    drift: {
      ...createDrift(observed),
      onChange: objects.drift.on,
      onCompared: objects.compared.on,
    },
    sources: createFetchedSources(),
    outbox: {
      report({ name }) {
        reported.add(name);
        happened();
      },
      withdrawn: () => undefined,
    },
    ...{ concurrency: 2, metrics: new Registry() },
  });
  const ending = new AbortController();
  const ended = engine.run(ending.signal);

  return {
    ...{ assignments, referenced, clusterInfo, clock },
    ...{ unready: observed.unready, drifted: observed.drifted },
    recordsChanged: records.changed.emit,
    releaseRemoved: () => records.removed.emit(undefined),
    recordsReadable: records.readable.emit,
    readinessChanged: objects.ready.emit,
    driftChanged: objects.drift.emit,
    compared: objects.compared.emit,
    accountsChanged: () => inputs.accounts.emit(undefined),
    valuesChanged: inputs.values.emit,
    downstreamChanged: inputs.downstream.emit,
    async takePasses(count) {
      await until(() => passes.length >= count);
      await clock.advance(0);
      await settle();
      return passes.splice(0).toSorted();
    },
    reported: (name) => until(() => reported.has(name)),
    async stop() {
      ending.abort();
      await ended;
    },
  };
}

/** `on` takes what listens; all that listen get what is emitted. */
function emitter<T = undefined>() {
  const listeners: ((value: T) => void)[] = [];
  return {
    on: (listener: (value: T) => void): void => void listeners.push(listener),
    emit(value: T): void {
      for (const listener of listeners) listener(value);
    },
  };
}

const deadline = {
  ...{ namespace: "shop", release: "app", revision: 1 },
  ...{ untilMs: Number.MAX_SAFE_INTEGER, isRollback: false },
};

function inSync(rest: ReturnType<typeof createMemoryApiServer>): InSync {
  const release = { namespace: "shop", name: "app", revision: 1 };
  const client = { subject: "the agent", rest, isPerNamespace: false };
  return {
    kind: "in-sync",
    release: { ...release, chartVersion: "1.0.0", appVersion: "" },
    ...{ objects: [], manifestDigest: "", client, ignoredConditions: [] },
    drift: {
      ...{ release, options: {}, client, manifestDigest: "" },
      wholeObjects: () => Promise.resolve([]),
      isCurrent: () => true,
    },
  };
}
