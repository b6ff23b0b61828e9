/**
 * One agent's stream: turns stream events, timers and results into events of `session-state.ts`, and runs its effects.
 * No state outlives the stream: the next one starts from what the agent then has stored.
 */
import { agentMessageFromWire, type ReadAgentMessage } from "@flotilla/proto";
import { versionSkew } from "@flotilla/shared/buildinfo";
import { messageOf } from "@flotilla/shared/errors";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { Metadata } from "@grpc/grpc-js";
import type { AgentCertificate } from "../identity/agent-certificate.ts";
import type { ClusterRef } from "../identity/cluster-identity.ts";
import type { Presence } from "../presence/presence.ts";
import { RpcError, toGrpcError } from "../rpc/errors.ts";
import { type AgentStream, decoded, type Incoming } from "../rpc/incoming.ts";
import type { Rejections } from "../rpc/rejections.ts";
import {
  type AgentRequests,
  type AnswerSink,
  createAgentRequests,
  type NewRequest,
  type OpenedRequest,
} from "./agent-requests.ts";
import {
  type AgentSync,
  type AgentSyncDeps,
  createAgentSync,
  type DesiredState,
} from "./agent-sync.ts";
import { createReceiveLimit } from "./flow-control.ts";
import { type RegistrationOptions, register, registrationEvent } from "./registration.ts";
import { createReportIntake, type ReportIntake, type ReportSink } from "./report-intake.ts";
import {
  initialState,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
  type Subject,
  step,
} from "./session-state.ts";

export interface SessionDeps extends AgentSyncDeps {
  readonly reports: ReportSink;
  readonly presence: Pick<Presence, "opened" | "connected" | "orphansChanged" | "closed">;
  readonly rejections: Rejections;
  readonly log: Log;
}

export interface SessionOptions extends RegistrationOptions {
  readonly stream: AgentStream;
  readonly agent: AgentCertificate;
}

export interface Session {
  readonly cluster: ClusterRef;
  /** As authenticated when the stream was opened. */
  readonly agent: AgentCertificate;
  /** 0 while the agent is not connected. */
  readonly epoch: number;
  /** Resolves when no work of the session is left. */
  readonly ended: Promise<void>;
  /** What the agent has to be sent about a subject may have changed. */
  changed(subject: Subject): void;
  /** A BundleDeployment of the cluster was created or deleted. */
  deploymentsChanged(name: string): void;
  /** Sends a request of a user. */
  request(request: NewRequest, sink: AnswerSink): OpenedRequest;
  end(error: RpcError): void;
}

const helloTimeoutMs = 30_000;

export function openSession(deps: SessionDeps, options: SessionOptions): Session {
  const { stream, cluster, agent } = options;
  const { clock, presence } = deps;
  const log = deps.log.child({ cluster: clusterKey(cluster) });
  const ended = Promise.withResolvers<void>();
  let state: SessionState = initialState;
  let sync: AgentSync | undefined;
  let requests: AgentRequests | undefined;
  presence.opened(cluster);

  const receiveLimit = createReceiveLimit({
    clock,
    onExceeded: () => emit({ kind: "paused", reason: "rate" }),
    onAvailable: () => emit({ kind: "resumed", reason: "rate" }),
  });
  const intake = openIntake(deps, {
    cluster,
    desired: options.desired,
    log,
    sync: () => sync,
    emit,
  });
  const helloTimer = clock.setTimeout(() => emit({ kind: "helloTimeout" }), helloTimeoutMs);
  const certificateTimer = clock.setTimeout(
    () => emit({ kind: "certificateExpired" }),
    agent.notAfter - clock.now(),
  );

  function emit(event: SessionEvent): void {
    const next = step(state, event, { id: deps.hubId, version: deps.hubVersion });
    state = next.state;
    session.epoch = state.kind === "connected" ? state.epoch : 0;
    for (const effect of next.effects) run(effect);
  }

  function run(effect: SessionEffect): void {
    switch (effect.kind) {
      case "stopHelloTimer":
        helloTimer.cancel();
        break;
      case "register":
        void register(deps, options, effect, () => state.kind === "registering").then((result) =>
          emit(registrationEvent(options.desired, effect, result)),
        );
        break;
      case "startDispatch":
        sync = startDispatch(deps, options, effect.registration, log, emit);
        requests = createAgentRequests({ version: effect.registration.version, put: sync.put });
        break;
      case "enqueue":
        sync?.enqueue(effect.subject);
        break;
      case "recordOrphans":
        presence.orphansChanged(cluster, effect.epoch, effect.orphans);
        break;
      case "acceptReport":
        intake.state(effect.position, effect.state);
        break;
      case "acceptWithdrawn":
        intake.withdrawn(effect.deployment);
        break;
      case "logStored":
        log.debug({ deployment: effect.deployment.name }, "agent stored its assignment");
        break;
      case "acceptChunk":
        requests?.received(effect.chunk);
        break;
      case "pauseReading":
        stream.pause();
        break;
      case "resumeReading":
        stream.resume();
        break;
      case "reject":
        logRejection(deps, cluster, effect.error);
        break;
      case "logFailure":
        logFailure(deps, cluster, effect);
        break;
      case "close":
        for (const each of [helloTimer, certificateTimer]) each.cancel();
        for (const each of [receiveLimit, sync, requests]) each?.close();
        closeStream(stream, effect.how);
        break;
      case "release":
        release(deps, cluster, effect, log);
        ended.resolve();
        break;
    }
  }

  // Without a getter: an object with one takes several times as much memory, and there is one for each agent.
  const session: Session & { epoch: number } = {
    cluster,
    agent,
    epoch: 0,
    ended: ended.promise,
    changed(subject) {
      if (subject.kind === "deployment" && intake.hasMissed(subject.name))
        emit({ kind: "reportMissed", name: subject.name });
      emit({ kind: "changed", subject });
    },
    deploymentsChanged: (name) => emitOrphan(name, options.desired, sync, emit),
    request: (request, sink) =>
      state.kind === "connected" && requests !== undefined
        ? requests.open(request, sink)
        : { kind: "offline" },
    end: (error) => emit({ kind: "end", error }),
  };

  // Before the registration, which can take a while when thousands connect at once: the agent gets an early response.
  stream.sendMetadata(new Metadata());
  stream.on("data", (incoming: Incoming<ReadAgentMessage>) => {
    if (state.kind === "ending" || state.kind === "ended") return;
    receiveLimit.received();
    try {
      emit({ kind: "message", message: agentMessageFromWire(decoded(incoming)) });
    } catch (thrown) {
      emit({ kind: "violation", error: RpcError.protocolViolation(thrown) });
    }
  });
  stream.on("end", () => emit({ kind: "completed" }));
  stream.on("cancelled", () => emit({ kind: "cancelled" }));
  stream.on("error", () => undefined);
  return session;
}

interface IntakeOptions {
  readonly cluster: ClusterRef;
  readonly desired: DesiredState;
  readonly log: Log;
  readonly sync: () => AgentSync | undefined;
  readonly emit: (event: SessionEvent) => void;
}

function openIntake(deps: SessionDeps, options: IntakeOptions): ReportIntake {
  const { cluster, desired, log, sync, emit } = options;
  return createReportIntake({
    cluster,
    desired: desired.deployment,
    isStored: (name) => sync()?.hasDeployment(name) === true,
    sink: deps.reports,
    metrics: deps.metrics,
    rejections: deps.rejections,
    log,
    acknowledge: (name, sequence, onSent) => sync()?.acknowledge(name, sequence, onSent),
    onUninstalled(name, uid) {
      sync()?.uninstalled(name, uid);
      emitOrphan(name, desired, sync(), emit);
    },
    onPaused: (reason) => emit({ kind: "paused", reason }),
    onResumed: (reason) => emit({ kind: "resumed", reason }),
    onFailed: (thrown) => emit({ kind: "end", error: RpcError.fromThrown(thrown) }),
  });
}

/** An orphan is a deployment that the agent has and the hub does not have. */
function emitOrphan(
  name: string,
  desired: DesiredState,
  sync: AgentSync | undefined,
  emit: (event: SessionEvent) => void,
): void {
  const isOrphan = sync?.hasDeployment(name) === true && desired.deployment(name) === undefined;
  emit({ kind: "orphanChanged", name, isOrphan });
}

function startDispatch(
  deps: SessionDeps,
  { stream, cluster, desired }: SessionOptions,
  registration: Extract<SessionEffect, { kind: "startDispatch" }>["registration"],
  log: Log,
  emit: (event: SessionEvent) => void,
): AgentSync {
  const { epoch, version, hello, plan } = registration;
  const message = "cannot send to the agent; closing its stream";
  const sync = createAgentSync(deps, {
    stream,
    cluster,
    desired,
    registration,
    log,
    onFailed: (thrown) => emit({ kind: "failed", thrown, message }),
  });
  const { agentVersion } = hello;
  log.info({ epoch, agentVersion, version, orphans: plan.orphans.length }, "agent connected");
  const skew = versionSkew("agent", agentVersion, deps.hubVersion);
  if (skew.kind === "warning") log.warn({ why: skew.message }, "agent and hub differ in version");
  return sync;
}

function closeStream(stream: AgentStream, how: RpcError | "complete" | "disconnected"): void {
  if (how === "complete") stream.end();
  else if (how !== "disconnected") stream.emit("error", toGrpcError(how));
  // Further messages of the agent are read and dropped, so that the connection can close.
  stream.resume();
}

function release(
  { presence, metrics }: SessionDeps,
  cluster: ClusterRef,
  { epoch, why }: Extract<SessionEffect, { kind: "release" }>,
  log: Log,
): void {
  try {
    presence.closed(cluster, epoch);
    if (epoch === 0) return;
    metrics.disconnected.inc();
    log.info({ epoch, why }, "agent disconnected");
  } catch (thrown) {
    log.error({ err: messageOf(thrown) }, "cannot release the session");
  }
}

function logRejection({ rejections }: SessionDeps, cluster: ClusterRef, error: RpcError): void {
  const key = clusterKey(cluster);
  const fields = { cluster: key, err: error.message };
  const message = "protocol violation by the agent; closing its stream";
  rejections.rejected(key, { reason: "protocol_violation", fields, message });
}

function logFailure(
  { rejections }: SessionDeps,
  cluster: ClusterRef,
  { thrown, message }: Extract<SessionEffect, { kind: "logFailure" }>,
): void {
  const key = clusterKey(cluster);
  rejections.failed(key, thrown, { fields: { cluster: key }, message });
}

function clusterKey({ namespace, name }: ClusterRef): string {
  return keyOf({ namespace, name });
}
