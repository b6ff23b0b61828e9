/** One agent's session with all its dependencies in memory. */
import { Duplex } from "node:stream";
import type { ReadAgentMessage, WireHubMessage } from "@flotilla/proto";
import { type BundleDeployment, clusters } from "@flotilla/shared/api";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, type FakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { createDispatchMetrics } from "../link/dispatch/metrics.ts";
import type { ReportPosition } from "../link/dispatch/report-intake.ts";
import { openSession, type Session } from "../link/dispatch/session.ts";
import type { AgentStream, Incoming } from "../link/rpc/incoming.ts";
import { createRejections } from "../link/rpc/rejections.ts";
import { aCluster, aDeployment, workspace } from "./objects.ts";

export const testHubId = "hub";

export interface StoredReport {
  readonly kind: "report" | "withdrawn";
  readonly name: string;
  readonly uid: string;
  readonly place?: ReportPosition;
  /** The deployment of that name when the report was stored. */
  readonly deployment: BundleDeployment | undefined;
}

export interface TestSession {
  readonly session: Session;
  readonly clock: FakeClock;
  /** By name; tests change it. */
  readonly desired: Map<string, BundleDeployment>;
  readonly stored: readonly StoredReport[];
  /** Messages to the agent. */
  readonly sent: readonly WireHubMessage[];
  /** How the stream was ended by the hub: `error` or `end`. */
  readonly ends: readonly string[];
  /** The messages of the errors. */
  readonly errorMessages: readonly string[];
  /** The fields of warnings. */
  readonly warnings: readonly object[];
  readonly metrics: Registry;
  /** The calls of presence: `opened`, `connected` and `closed`. */
  readonly presence: readonly string[];
  /** From now on reports cannot be stored, or connections not be recorded. */
  failReports(): void;
  failRegistration(): void;
  /** Whether the agent reads what is sent. */
  setReading(isRead: boolean): void;
  /** The agent sends a message. */
  send(message: Incoming<ReadAgentMessage>): void;
  /** The connection fails. */
  disconnect(): void;
  /** The agent closes its half of the stream. */
  endRequests(): void;
}

export function openTestSession(): TestSession {
  const clock = createFakeClock();
  const desired = new Map<string, BundleDeployment>();
  const stored: StoredReport[] = [];
  const sent: WireHubMessage[] = [];
  const ends: string[] = [];
  const errorMessages: string[] = [];
  const warnings: object[] = [];
  const presence: string[] = [];
  let failsReports = false;
  let failsRegistration = false;
  let isFinished = false;
  let isRead = true;
  let taken = (): void => undefined;
  let epoch = 0;

  const stream: Duplex & { sendMetadata?: () => void } = new Duplex({
    objectMode: true,
    autoDestroy: false,
    read: () => undefined,
    write(message: WireHubMessage, _, done) {
      sent.push(message);
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
    errorMessages.push(message);
  });

  const store = (entry: StoredReport): Promise<void> => {
    stored.push(entry);
    return failsReports ? Promise.reject(new Error("not stored")) : Promise.resolve();
  };
  const rest = createMemoryApiServer();
  rest.put(clusters, aCluster("paris", { metadata: { uid: "uid-paris" } }));
  const identity = { hubId: testHubId, namespace: workspace, name: "paris", uid: "uid-paris" };
  const trusted = { pem: "", digest: "sha256:0" };
  const notAfter = clock.now() + 3_600_000;
  const metrics = new Registry();
  const log = Object.assign(silentLog(), {
    child: () => log,
    warn: (fields: object) => void warnings.push(fields),
  });
  const session = openSession(
    {
      hubId: testHubId,
      hubVersion: "1.0.0",
      rest,
      contents: { read: (id) => Promise.resolve(Buffer.from(id)) },
      trust: { isTrusted: () => true, isSigned: () => true, planKeyOf: () => undefined },
      objects: { get: () => ({ kind: "absent" }) },
      reports: {
        report: (_, place, { name, uid }) =>
          store({ kind: "report", name, uid, place, deployment: desired.get(name) }),
        withdrawn: (_, { name, uid }) =>
          store({ kind: "withdrawn", name, uid, deployment: desired.get(name) }),
      },
      authority: {
        trusted,
        confirmed: () => Promise.resolve(trusted),
      },
      presence: {
        opened: () => void presence.push("opened"),
        connected() {
          if (failsRegistration) return Promise.reject(new Error("not written"));
          presence.push("connected");
          epoch += 1;
          return Promise.resolve(epoch);
        },
        orphansChanged: () => undefined,
        closed: () => void presence.push("closed"),
      },
      metrics: createDispatchMetrics(metrics),
      rejections: createRejections({ metrics, clock, log }),
      clock,
      log,
    },
    {
      // A session uses only those members of a gRPC stream that every stream has.
      stream: stream as unknown as AgentStream,
      registrations: createSemaphore(1),
      cluster: {
        namespace: "fleet-default",
        name: "paris",
        uid: "uid-paris",
        deploymentsNamespace: aDeployment("paris").metadata.namespace ?? "",
      },
      agent: { identity, fingerprint: "sha256:0", notAfter },
      desired: {
        deployment: (name) => desired.get(name),
        deployments: () => [...desired.values()],
        sourceReports: () => [],
        cluster: () => undefined,
      },
      previous: Promise.resolve(),
    },
  );
  return {
    session,
    clock,
    desired,
    stored,
    sent,
    ends,
    errorMessages,
    warnings,
    metrics,
    presence,
    failReports: () => {
      failsReports = true;
    },
    failRegistration: () => {
      failsRegistration = true;
    },
    setReading(reads) {
      isRead = reads;
      if (reads) taken();
    },
    send: (message) => void (isFinished || stream.push(message)),
    disconnect: () => void stream.emit("cancelled"),
    endRequests() {
      if (!isFinished) stream.push(null);
      isFinished = true;
    },
  };
}
