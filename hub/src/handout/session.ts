/**
 * One agent's stream, from its Hello to its end.
 *
 * Every way in which a stream ends goes through `end`, once, with a status and a sentence for the agent. Nothing here
 * remembers beyond the stream: the next one starts from what the agent then holds.
 */
import { isDeepStrictEqual } from "node:util";
import { agentMessageFromWire, hubMessageToWire } from "@flotilla/proto/map.ts";
import type { AgentMessage, HubMessage, ObjectRef } from "@flotilla/proto/messages.ts";
import { createSendQueue, writeMessage } from "@flotilla/proto/send-queue.ts";
import {
  maxMessageBytes,
  type ReadAgentMessage,
  type WireHubMessage,
} from "@flotilla/proto/service.ts";
import { reconnectTrailers } from "@flotilla/proto/trailers.ts";
import { supportedVersions } from "@flotilla/proto/versions.ts";
import { type BundleDeployment, formatObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { Semaphore } from "@flotilla/shared/concurrency/semaphore.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { Metadata, type ServerDuplexStream, status } from "@grpc/grpc-js";
import type { ContentReader } from "../content/content-store.ts";
import type { LiveAuthority } from "../identity/live-authority.ts";
import type { Presence } from "../presence/presence.ts";
import type { AgentCertificate } from "../serve/agent-certificate.ts";
import { RpcError, serveErrors, statusOf } from "../serve/errors.ts";
import { type Incoming, readable } from "../serve/incoming.ts";
import type { Refusals } from "../serve/refusals.ts";
import type { WorkspaceObjects } from "../supply/workspace-objects.ts";
import { type Assignments, createAssignments } from "./assignments.ts";
import { type AuthorityBook, createAuthorityBook } from "./authority-book.ts";
import { createBrake } from "./brake.ts";
import { checkHello, type Hello } from "./check-hello.ts";
import type { HandoutMetrics } from "./metrics.ts";
import { createPace } from "./pace.ts";
import { planHandout } from "./plan-handout.ts";
import { createReportIntake } from "./report-intake.ts";
import type { ClusterRef, ReportSink } from "./report-sink.ts";
import { createSupplyBook, type SupplyBook } from "./supply-book.ts";
import { createWithdrawals } from "./withdrawals.ts";

export type AgentStream = ServerDuplexStream<Incoming<ReadAgentMessage>, WireHubMessage>;

export interface SessionDeps {
  readonly hubId: string;
  readonly hubVersion: string;
  /** The API server itself, for what a cache must not be asked. */
  readonly rest: Pick<KubeRest, "get">;
  readonly contents: ContentReader;
  readonly objects: Pick<WorkspaceObjects, "get" | "onChange">;
  readonly reports: ReportSink;
  readonly authority: Pick<LiveAuthority, "trusted" | "confirmed" | "onChange">;
  readonly presence: Presence;
  readonly metrics: HandoutMetrics;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SessionOptions {
  readonly stream: AgentStream;
  readonly cluster: ClusterRef;
  readonly agent: AgentCertificate;
  /** The BundleDeployment of a name in the cluster's namespace. */
  readonly wanted: (name: string) => BundleDeployment | undefined;
  readonly allWanted: () => readonly BundleDeployment[];
  /** The Cluster itself, as it is now. */
  readonly clusterNow: () => Cluster | undefined;
  /** The end of the stream that this one replaces; its presence must be written first. */
  readonly previous: Promise<void>;
  /** A place among the arrivals that are being written. */
  readonly arrivals: Semaphore;
}

export interface Session {
  readonly cluster: ClusterRef;
  /** Who it was when it came. */
  readonly agent: AgentCertificate;
  /** 0 before the agent was welcomed. */
  readonly epoch: number;
  /** Resolves when nothing of the session is going on any more. */
  readonly ended: Promise<void>;
  /** A BundleDeployment of the cluster has changed. */
  changed(name: string): void;
  /** Something that its deployments name has changed, or whether they do. */
  supplyChanged(ref: ObjectRef): void;
  factsChanged(): void;
  /** What the hub is to be trusted by. */
  authoritiesChanged(): void;
  /** One has come or gone. */
  cameOrWent(name: string): void;
  end(reason: RpcError): void;
}

const helloTimeoutMs = 30_000;
/** Nobody says which; what is larger is refused by gRPC before anything of it gets here. */
const cutOff = `the connection was lost or given up, or gRPC ended it over a message of more than ${maxMessageBytes} bytes`;

export function openSession(deps: SessionDeps, options: SessionOptions): Session {
  const { stream, cluster, wanted } = options;
  const { clock, metrics, presence } = deps;
  const log = deps.log.child({ cluster: `${cluster.namespace}/${cluster.name}` });
  presence.coming(cluster);
  const closing = Promise.withResolvers<void>();
  const welcoming = Promise.withResolvers<void>();
  const outgoing = createSendQueue<HubMessage>({
    send: (message) => {
      if (isCounted(message)) metrics.sent.inc({ kind: message.kind });
      return writeMessage(stream, hubMessageToWire(message));
    },
    onError: (thrown) =>
      failed(thrown, "agent could not be told something, so its stream is ended"),
  });
  const brake = createBrake({
    pause: () => stream.pause(),
    // What comes after the end is read and dropped in any case.
    resume: () => stream.resume(),
  });
  const pace = createPace({
    clock,
    onFast: () => brake.hold("pace"),
    onCalm: () => brake.release("pace"),
  });
  const intake = createReportIntake({
    cluster,
    wanted,
    isHeld: (name) => assignments?.holds(name) === true,
    sink: deps.reports,
    metrics,
    refusals: deps.refusals,
    log,
    acknowledge: (name, sequence, onSaid) =>
      outgoing.put(`ack/${name}`, () => {
        onSaid();
        return { kind: "stateAck", name, sequence };
      }),
    released: (name, uid) => {
      assignments?.released(name, uid);
      cameOrWent(name);
    },
    onFull: () => brake.hold("reports"),
    onRoom: () => brake.release("reports"),
    onUnread: () => brake.hold("answers"),
    onRead: () => brake.release("answers"),
    onFailed: (thrown) => end(RpcError.answerTo(thrown)),
  });
  const helloTimer = clock.setTimeout(
    () => end(broken("no Hello came within 30 s of the stream's beginning")),
    helloTimeoutMs,
  );
  const certificateTimer = clock.setTimeout(() => {
    const message = "the agent's certificate has ended; connect again with another one";
    // Nothing is wrong: it is to come again, as from a hub that goes away.
    const trailers = reconnectTrailers();
    const { AGENT_UNKNOWN } = serveErrors;
    end(new RpcError(status.UNAUTHENTICATED, AGENT_UNKNOWN, message, { trailers }));
  }, options.agent.notAfter - clock.now());
  /** What the agent holds and the hub does not know, sorted. */
  let orphans: readonly string[] = [];
  let assignments: Assignments | undefined;
  let supplyBook: SupplyBook | undefined;
  let authorityBook: AuthorityBook | undefined;
  /** Of the wire, as agreed. */
  let version = supportedVersions.oldest;
  let hasHello = false;
  let epoch = 0;
  let isEnded = false;

  // Before the welcome, which may take a while where thousands come at once: that somebody is there.
  stream.sendMetadata(new Metadata());
  stream.on("data", (incoming: Incoming<ReadAgentMessage>) => {
    if (isEnded) return;
    pace.heard();
    try {
      receive(agentMessageFromWire(readable(incoming)));
    } catch (thrown) {
      refuse(thrown instanceof RpcError ? thrown : RpcError.protocolBroken(thrown));
    }
  });
  // The agent has nothing more to say: it is going, or a newer stream of it takes over.
  stream.on("end", () => finish(() => void stream.end(), "the agent ended the stream"));
  stream.on("cancelled", () => finish(() => undefined, cutOff));
  stream.on("error", () => undefined);

  function receive(message: AgentMessage): void {
    if (message.kind === "hello") {
      if (hasHello) throw broken("a second Hello came");
      hasHello = true;
      helloTimer.cancel();
      welcome(message).then(welcoming.resolve, (thrown: unknown) => {
        // What the hub could not do is not the agent's fault.
        if (thrown instanceof RpcError) refuse(thrown);
        else failed(thrown, "agent could not be welcomed, so its stream is ended");
        welcoming.resolve();
      });
      return;
    }
    if (!hasHello) throw broken("the first message was no Hello");
    switch (message.kind) {
      case "state":
        // Reports carry the epoch, which is known only once the agent is welcomed.
        if (epoch === 0) throw broken("a state came before the agent was welcomed");
        intake.state({ epoch, sequence: message.sequence }, message.state);
        return;
      case "withdrawn":
        intake.withdrawn(message.deployment);
        return;
      case "deploymentAck":
        log.debug({ deployment: message.deployment.name }, "agent stored what it was sent");
        return;
    }
  }

  async function welcome(hello: Hello): Promise<void> {
    version = checkHello(hello, deps.hubId);
    metrics.arriving.inc();
    await options.previous;
    await options.arrivals.acquire();
    try {
      // Whoever has gone while it waited costs nothing: it is back with another stream, or will be.
      if (hasEnded()) return;
      epoch = await arrived(hello);
    } finally {
      options.arrivals.release();
      metrics.arriving.dec();
    }
    if (hasEnded()) return;
    const { inventory, agentVersion } = hello;
    assignments = createAssignments({
      ...deps,
      holdings: inventory,
      wanted,
      withdrawals: createWithdrawals({ ...deps, cluster, allWanted: options.allWanted }),
      again: changed,
      log,
    });
    const book = createSupplyBook({
      held: hello.referencedObjects,
      factsDigest: hello.clusterInfoDigest,
      deployments: options.allWanted,
      cluster: options.clusterNow,
      sourceOf: (ref) => deps.objects.get(cluster.namespace, ref),
    });
    supplyBook = book;
    const { hubId, hubVersion } = deps;
    const protocolVersion = version;
    outgoing.put("welcome", () => ({ kind: "welcome", protocolVersion, hubId, epoch, hubVersion }));
    if (hello.authoritiesDigest !== undefined) {
      const { authority } = deps;
      authorityBook = createAuthorityBook({ authority, held: hello.authoritiesDigest, log });
      authoritiesChanged();
    }
    // Planned anew: while the arrival was written no change was listened to.
    const plan = planHandout(inventory, options.allWanted());
    const supplies = book.plan();
    factsChanged();
    for (const ref of supplies.send) supplyChanged(ref);
    for (const { deployment } of plan.steps) changed(deployment.name);
    for (const ref of supplies.withdraw) supplyChanged(ref);
    setOrphans(plan.orphans);
    outgoing.put("synced", () => ({ kind: "synced", orphans: plan.orphans }));
    log.info({ epoch, agentVersion, version, orphans: plan.orphans.length }, "agent connected");
  }

  function arrived({ inventory, agentVersion, agentNamespace }: Hello): Promise<number> {
    const known = options.allWanted();
    const { orphans: atFirst } = planHandout(inventory, known);
    orphans = atFirst;
    return presence.arrived(cluster, {
      version: agentVersion,
      namespace: agentNamespace,
      orphans: atFirst,
      reportedEpoch: Math.max(0, ...known.map(({ status }) => status?.agent?.epoch ?? 0)),
    });
  }

  function cameOrWent(name: string): void {
    if (assignments === undefined) return;
    const others = orphans.filter((orphan) => orphan !== name);
    const isOrphan = assignments.holds(name) && wanted(name) === undefined;
    setOrphans(isOrphan ? [...others, name].toSorted() : others);
  }

  /** Has the agent connect again where it reported on this before the hub knew of it. */
  function endIfMissed(name: string): void {
    if (!intake.hasMissed(name)) return;
    const message = `the hub did not know of deployment ${name} yet when the agent reported on it; connect again, and say it once more`;
    const trailers = reconnectTrailers();
    end(new RpcError(status.UNAVAILABLE, serveErrors.HUB_NOT_READY, message, { trailers }));
  }

  function setOrphans(names: readonly string[]): void {
    if (isDeepStrictEqual(names, orphans)) return;
    orphans = names;
    presence.orphansChanged(cluster, epoch, names);
  }

  /** For after an `await`, when what was known before it may no longer hold. */
  function hasEnded(): boolean {
    return isEnded;
  }

  function changed(name: string): void {
    outgoing.put(`deployment/${name}`, () => assignments?.next(name));
  }

  function supplyChanged(ref: ObjectRef): void {
    if (supplyBook !== undefined)
      outgoing.put(`supply/${formatObjectRef(ref)}`, () => supplyBook?.next(ref));
  }

  function factsChanged(): void {
    if (supplyBook !== undefined) outgoing.put("facts", () => supplyBook?.nextFacts());
  }

  function authoritiesChanged(): void {
    if (authorityBook !== undefined) outgoing.put("authorities", () => authorityBook?.next());
  }

  /** Ends it because of what the agent said. */
  function refuse(answer: RpcError): void {
    const who = `${cluster.namespace}/${cluster.name}`;
    const fields = { cluster: who, err: answer.message };
    const message = "agent broke the contract, so its stream is ended";
    deps.refusals.refused(who, { reason: "broken", fields, message });
    end(answer);
  }

  /** Ends it because of what the hub could not do, which the agent is not told in full. */
  function failed(thrown: unknown, message: string): void {
    if (isEnded) return;
    const who = `${cluster.namespace}/${cluster.name}`;
    deps.refusals.failed(who, thrown, { fields: { cluster: who }, message });
    end(RpcError.answerTo(thrown));
  }

  function end(reason: RpcError): void {
    finish(() => void stream.emit("error", statusOf(reason)), reason.message);
  }

  function finish(say: () => void, why: string): void {
    if (isEnded) return;
    isEnded = true;
    helloTimer.cancel();
    certificateTimer.cancel();
    pace.close();
    outgoing.close();
    assignments?.close();
    say();
    // What the agent still sends is read and dropped, so that the connection can come to its end.
    stream.resume();
    if (!hasHello) welcoming.resolve();
    welcoming.promise
      .then(() => {
        presence.left(cluster, epoch);
        if (epoch === 0) return;
        metrics.disconnected.inc();
        log.info({ epoch, why }, "agent disconnected");
      })
      .then(closing.resolve, (thrown: unknown) => {
        log.error({ err: messageOf(thrown) }, "session was not ended cleanly");
        closing.resolve();
      });
  }

  return {
    cluster,
    agent: options.agent,
    get epoch() {
      return epoch;
    },
    ended: closing.promise,
    changed(name) {
      if (assignments === undefined) return;
      endIfMissed(name);
      changed(name);
    },
    supplyChanged,
    factsChanged,
    authoritiesChanged,
    cameOrWent,
    end,
  };
}

/** Whether it is intent, and no part of the stream's own order. */
function isCounted({ kind }: HubMessage): boolean {
  return !["welcome", "authorities", "synced", "stateAck"].includes(kind);
}

function broken(message: string): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, serveErrors.PROTOCOL_BROKEN, message);
}
