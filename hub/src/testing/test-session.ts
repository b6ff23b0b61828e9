/** One agent's session with everything around it in memory, for tests that say whatever comes to their mind. */
import { Duplex } from "node:stream";
import type { ReadAgentMessage, WireHubMessage } from "@flotilla/proto/service.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { clusters } from "@flotilla/shared/api/resources.ts";
import { createSemaphore } from "@flotilla/shared/concurrency/semaphore.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock, type FakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { Registry } from "prom-client";
import { createHandoutMetrics } from "../handout/metrics.ts";
import type { ReportPlace } from "../handout/report-sink.ts";
import { type AgentStream, openSession, type Session } from "../handout/session.ts";
import type { Incoming } from "../serve/incoming.ts";
import { createRefusals } from "../serve/refusals.ts";
import { aCluster, aDeployment, workspace } from "./objects.ts";

export const testHubId = "hub";

export interface Kept {
  readonly kind: "report" | "withdrawn";
  readonly name: string;
  readonly uid: string;
  readonly place?: ReportPlace;
  /** The deployment of that name when it was kept. */
  readonly deployment: BundleDeployment | undefined;
}

export interface TestSession {
  readonly session: Session;
  readonly clock: FakeClock;
  /** By name; what it wants of the agent is changed here. */
  readonly wanted: Map<string, BundleDeployment>;
  readonly kept: readonly Kept[];
  /** What the agent was told. */
  readonly told: readonly WireHubMessage[];
  /** How the stream was ended by this side: `error` or `end`. */
  readonly ends: readonly string[];
  /** The sentences of those that were errors. */
  readonly answers: readonly string[];
  /** What was refused or failed, as a person is told of it. */
  readonly warnings: readonly object[];
  readonly metrics: Registry;
  /** `coming`, `arrived` and `left`, as presence heard of them. */
  readonly presence: readonly string[];
  /** What the agent says next fails to be kept, or to be written. */
  failKeeping(): void;
  failArrival(): void;
  /** The agent reads no more, until it does again. */
  read(isRead: boolean): void;
  /** The agent says it. */
  say(message: Incoming<ReadAgentMessage>): void;
  /** The connection is lost. */
  lose(): void;
  /** The agent has nothing more to say. */
  finish(): void;
}

export function openTestSession(): TestSession {
  const clock = createFakeClock();
  const wanted = new Map<string, BundleDeployment>();
  const kept: Kept[] = [];
  const told: WireHubMessage[] = [];
  const ends: string[] = [];
  const answers: string[] = [];
  const warnings: object[] = [];
  const presence: string[] = [];
  let isKeepingBroken = false;
  let isArrivalBroken = false;
  let isFinished = false;
  let isRead = true;
  let taken = (): void => undefined;
  let epoch = 0;

  const stream: Duplex & { sendMetadata?: () => void } = new Duplex({
    objectMode: true,
    autoDestroy: false,
    read: () => undefined,
    write(message: WireHubMessage, _, done) {
      told.push(message);
      if (isRead) done();
      else taken = done;
    },
    final(done) {
      ends.push("end");
      done();
    },
  });
  stream.sendMetadata = () => undefined;
  stream.on("error", ({ message }) => {
    ends.push("error");
    answers.push(message);
  });

  const keep = (entry: Kept): Promise<void> => {
    kept.push(entry);
    return isKeepingBroken ? Promise.reject(new Error("not kept")) : Promise.resolve();
  };
  const rest = createMemoryApiServer();
  rest.put(clusters, aCluster("paris", { metadata: { uid: "uid-paris" } }));
  const identity = { hubId: testHubId, namespace: workspace, name: "paris", uid: "uid-paris" };
  const trusted = { pem: "", digest: "sha256:0" };
  const notAfter = clock.now() + 3_600_000;
  const metrics = new Registry();
  const log = silentLog();
  const warning = Object.assign(silentLog(), {
    warn: (fields: object) => void warnings.push(fields),
  });
  const session = openSession(
    {
      hubId: testHubId,
      hubVersion: "1",
      rest,
      contents: { read: (id) => Promise.resolve(Buffer.from(id)) },
      objects: { get: () => ({ kind: "absent" }), onChange: () => () => undefined },
      reports: {
        report: (_, place, { name, uid }) =>
          keep({ kind: "report", name, uid, place, deployment: wanted.get(name) }),
        withdrawn: (_, { name, uid }) =>
          keep({ kind: "withdrawn", name, uid, deployment: wanted.get(name) }),
      },
      authority: {
        trusted,
        confirmed: () => Promise.resolve(trusted),
        onChange: () => () => undefined,
      },
      presence: {
        coming: () => void presence.push("coming"),
        clusterChanged: () => undefined,
        arrived() {
          if (isArrivalBroken) return Promise.reject(new Error("not written"));
          presence.push("arrived");
          epoch += 1;
          return Promise.resolve(epoch);
        },
        orphansChanged: () => undefined,
        left: () => void presence.push("left"),
        handOver: () => undefined,
        reconcile: () => Promise.resolve({ kind: "done" }),
        onChange: () => () => undefined,
        recorded: () => [],
      },
      metrics: createHandoutMetrics(metrics),
      refusals: createRefusals({ metrics, clock, log: warning }),
      clock,
      log,
    },
    {
      // What a session uses of a stream of gRPC is what every stream has.
      stream: stream as unknown as AgentStream,
      arrivals: createSemaphore(1),
      cluster: {
        namespace: "fleet-default",
        name: "paris",
        uid: "uid-paris",
        deploymentsNamespace: aDeployment("paris").metadata.namespace ?? "",
      },
      agent: { identity, fingerprint: "sha256:0", notAfter },
      wanted: (name) => wanted.get(name),
      allWanted: () => [...wanted.values()],
      clusterNow: () => undefined,
      previous: Promise.resolve(),
    },
  );
  return {
    session,
    clock,
    wanted,
    kept,
    told,
    ends,
    answers,
    warnings,
    metrics,
    presence,
    failKeeping: () => {
      isKeepingBroken = true;
    },
    failArrival: () => {
      isArrivalBroken = true;
    },
    read(again) {
      isRead = again;
      if (again) taken();
    },
    // Whoever has said all says nothing more.
    say: (message) => void (isFinished || stream.push(message)),
    lose: () => void stream.emit("cancelled"),
    finish() {
      if (!isFinished) stream.push(null);
      isFinished = true;
    },
  };
}
