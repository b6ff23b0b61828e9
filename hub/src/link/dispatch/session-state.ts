/**
 * The life of one agent's stream as a state and a pure step. `session.ts` maps stream events and
 * results to events here and runs the effects. A stream ends exactly once, whatever ends it:
 *
 *     awaitingHello ── hello ──▶ registering ── registered ──▶ connected ──▶ ended
 *                                     └── any end ──▶ ending ── registration settles ──▶ ended
 */

import { isDeepStrictEqual } from "node:util";
import {
  type AgentMessage,
  type AnswerChunk,
  type DeploymentKey,
  type DeploymentState,
  maxMessageBytes,
  type ObjectRef,
  reconnectTrailers,
} from "@flotilla/proto";
import { status } from "@grpc/grpc-js";
import { hubErrors } from "../../base/index.ts";
import { RpcError } from "../rpc/errors.ts";
import { type Hello, type OwnHub, validateHello } from "./hello.ts";
import type { DispatchPlan } from "./plan.ts";
import type { ReportPosition } from "./report-intake.ts";

/** Why the hub does not read from the stream; the agent's messages wait on its side until no reason is left. */
export type PauseReason = "rate" | "reports" | "acknowledgements";

/** What the agent may have to be sent a message about. */
export type Subject =
  | { readonly kind: "deployment"; readonly name: string }
  | { readonly kind: "referencedObject"; readonly ref: ObjectRef }
  | { readonly kind: "clusterInfo" }
  | { readonly kind: "authorities" };

type Open = { readonly paused: ReadonlySet<PauseReason> } & (
  | { readonly kind: "awaitingHello" }
  /** Hello is valid; the connection is being recorded in the Cluster's status. */
  | { readonly kind: "registering" }
  /** `orphans`: what the agent has and the hub does not have, sorted. */
  | { readonly kind: "connected"; readonly epoch: number; readonly orphans: readonly string[] }
);

export type SessionState =
  | Open
  /** The stream is closed while its registration is still in flight. */
  | { readonly kind: "ending"; readonly why: string }
  | { readonly kind: "ended" };

export type SessionEvent =
  | { readonly kind: "message"; readonly message: AgentMessage }
  /** A message that cannot be decoded or is not allowed. */
  | { readonly kind: "violation"; readonly error: RpcError }
  /** The agent closed its half of the stream. */
  | { readonly kind: "completed" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "helloTimeout" }
  | { readonly kind: "certificateExpired" }
  /** The hub ends the stream: a newer one replaces it, the agent is no longer authorized, or the hub stops. */
  | { readonly kind: "end"; readonly error: RpcError }
  /** The hub failed to do something that the stream needs. */
  | { readonly kind: "failed"; readonly thrown: unknown; readonly message: string }
  | { readonly kind: "registered"; readonly registration: Registration }
  /** The stream ended before its connection was recorded. */
  | { readonly kind: "registrationSkipped" }
  | { readonly kind: "registrationFailed"; readonly thrown: unknown }
  | { readonly kind: "paused"; readonly reason: PauseReason }
  | { readonly kind: "resumed"; readonly reason: PauseReason }
  | { readonly kind: "changed"; readonly subject: Subject }
  /** The cache now has a deployment whose report could not be assigned. */
  | { readonly kind: "reportMissed"; readonly name: string }
  | { readonly kind: "orphanChanged"; readonly name: string; readonly isOrphan: boolean };

export interface Registration {
  readonly hello: Hello;
  /** Negotiated version of the protocol. */
  readonly version: number;
  readonly epoch: number;
  /** As recorded in the Cluster's status. */
  readonly recordedOrphans: readonly string[];
  /** Made after the registration: changes before it were not dispatched. */
  readonly plan: DispatchPlan;
}

export type SessionEffect =
  | { readonly kind: "stopHelloTimer" }
  | { readonly kind: "register"; readonly hello: Hello; readonly version: number }
  /** Welcome the agent and enqueue what differs from what it has stored. */
  | { readonly kind: "startDispatch"; readonly registration: Registration }
  | { readonly kind: "enqueue"; readonly subject: Subject }
  | { readonly kind: "recordOrphans"; readonly epoch: number; readonly orphans: readonly string[] }
  | {
      readonly kind: "acceptReport";
      readonly position: ReportPosition;
      readonly state: DeploymentState;
    }
  | { readonly kind: "acceptWithdrawn"; readonly deployment: DeploymentKey }
  | { readonly kind: "logStored"; readonly deployment: DeploymentKey }
  | { readonly kind: "acceptChunk"; readonly chunk: AnswerChunk }
  | { readonly kind: "pauseReading" }
  | { readonly kind: "resumeReading" }
  | { readonly kind: "reject"; readonly error: RpcError }
  | { readonly kind: "logFailure"; readonly thrown: unknown; readonly message: string }
  /** Stop timers and queues, and close the hub's half: with an error, regularly, or not at all when it is already closed. */
  | { readonly kind: "close"; readonly how: RpcError | "complete" | "disconnected" }
  /** Record the disconnect. `epoch` 0: the connection was never recorded. The last effect of every session. */
  | { readonly kind: "release"; readonly epoch: number; readonly why: string };

export interface SessionStep {
  readonly state: SessionState;
  readonly effects: readonly SessionEffect[];
}

export const initialState: SessionState = { kind: "awaitingHello", paused: new Set() };

/** For the agent: how to reconnect without a backoff. */
const reconnectNow = (): { readonly trailers: ReturnType<typeof reconnectTrailers> } => ({
  trailers: reconnectTrailers(),
});
/** gRPC does not say which of these it was; a larger message is rejected before it gets here. */
const connectionClosed = `the connection was closed or cancelled, or gRPC closed it because of a message above ${maxMessageBytes} bytes`;

/** Never throws. */
export function step(state: SessionState, event: SessionEvent, hub: OwnHub): SessionStep {
  switch (state.kind) {
    case "ended":
      return unchanged(state);
    case "ending":
      return settle(state.why, event) ?? unchanged(state);
    default:
      return stepOpen(state, event, hub);
  }
}

function stepOpen(state: Open, event: SessionEvent, hub: OwnHub): SessionStep {
  switch (event.kind) {
    case "message":
      return receive(state, event.message, hub);
    case "violation":
      return reject(state, event.error);
    case "completed":
      return close(state, "complete", "the agent closed the stream");
    case "cancelled":
      return close(state, "disconnected", connectionClosed);
    case "helloTimeout":
      return state.kind === "awaitingHello"
        ? end(state, violation("no Hello within 30 s of the start of the stream"))
        : unchanged(state);
    case "certificateExpired":
      return end(state, certificateExpired());
    case "end":
      return end(state, event.error);
    case "failed":
      return fail(state, event.thrown, event.message);
    case "registered":
    case "registrationSkipped":
    case "registrationFailed":
      return state.kind === "registering" ? finishRegistration(state, event) : unchanged(state);
    case "paused":
    case "resumed":
      return setPaused(state, event);
    case "changed":
    case "reportMissed":
    case "orphanChanged":
      return state.kind === "connected" ? stepConnected(state, event) : unchanged(state);
  }
}

function receive(state: Open, message: AgentMessage, hub: OwnHub): SessionStep {
  if (message.kind === "hello") {
    if (state.kind !== "awaitingHello") return reject(state, violation("a second Hello"));
    const stop: SessionEffect = { kind: "stopHelloTimer" };
    const validation = validateHello(message, hub);
    if (validation.kind === "rejected") return reject(state, validation.error);
    return {
      state: { kind: "registering", paused: state.paused },
      effects: [stop, { kind: "register", hello: message, version: validation.version }],
    };
  }
  if (state.kind === "awaitingHello")
    return reject(state, violation("the first message is not Hello"));
  switch (message.kind) {
    case "state": {
      // A report has the epoch, which is assigned when the connection is recorded.
      if (state.kind === "registering")
        return reject(state, violation("a state before the agent was welcomed"));
      const position = { epoch: state.epoch, sequence: message.sequence };
      return withEffect(state, { kind: "acceptReport", position, state: message.state });
    }
    case "withdrawn":
      return withEffect(state, { kind: "acceptWithdrawn", deployment: message.deployment });
    case "deploymentAck":
      return withEffect(state, { kind: "logStored", deployment: message.deployment });
    case "answerChunk": {
      if (state.kind === "registering")
        return reject(state, violation("an answer before the agent was welcomed"));
      const { kind: _, ...chunk } = message;
      return withEffect(state, { kind: "acceptChunk", chunk });
    }
  }
}

type RegistrationEvent = Extract<
  SessionEvent,
  { kind: "registered" | "registrationSkipped" | "registrationFailed" }
>;

function finishRegistration(
  state: Extract<Open, { kind: "registering" }>,
  event: RegistrationEvent,
): SessionStep {
  switch (event.kind) {
    case "registered": {
      const { registration } = event;
      const { epoch, recordedOrphans, plan } = registration;
      const { orphans } = plan;
      return {
        state: { kind: "connected", paused: state.paused, epoch, orphans },
        effects: [
          { kind: "startDispatch", registration },
          ...recordIfChanged(epoch, recordedOrphans, orphans),
        ],
      };
    }
    case "registrationSkipped":
      return unchanged(state);
    case "registrationFailed": {
      const message = "cannot record the agent's connection; closing its stream";
      const { state: ending, effects } = fail(state, event.thrown, message);
      // Nothing is in flight any more.
      const settled = step(ending, event, { id: "", version: "" });
      return { state: settled.state, effects: [...effects, ...settled.effects] };
    }
  }
}

type ConnectedEvent = Extract<SessionEvent, { kind: "changed" | "reportMissed" | "orphanChanged" }>;

function stepConnected(
  state: Extract<Open, { kind: "connected" }>,
  event: ConnectedEvent,
): SessionStep {
  switch (event.kind) {
    case "changed":
      return withEffect(state, { kind: "enqueue", subject: event.subject });
    case "reportMissed":
      return end(state, reportMissed(event.name));
    case "orphanChanged": {
      const { name, isOrphan } = event;
      const others = state.orphans.filter((orphan) => orphan !== name);
      const orphans = isOrphan ? [...others, name].toSorted() : others;
      const effects = recordIfChanged(state.epoch, state.orphans, orphans);
      return { state: { ...state, orphans }, effects };
    }
  }
}

function recordIfChanged(
  epoch: number,
  before: readonly string[],
  orphans: readonly string[],
): readonly SessionEffect[] {
  return isDeepStrictEqual(before, orphans) ? [] : [{ kind: "recordOrphans", epoch, orphans }];
}

function setPaused(
  state: Open,
  { kind, reason }: Extract<SessionEvent, { kind: "paused" | "resumed" }>,
): SessionStep {
  const others = [...state.paused].filter((each) => each !== reason);
  const paused = new Set(kind === "paused" ? [...others, reason] : others);
  const isPaused = paused.size > 0;
  const next = { ...state, paused };
  if (isPaused === state.paused.size > 0) return unchanged(next);
  return withEffect(next, { kind: isPaused ? "pauseReading" : "resumeReading" });
}

/** The agent violated the contract. */
function reject(state: Open, error: RpcError): SessionStep {
  return after({ kind: "reject", error }, end(state, error));
}

/** The hub failed; the agent gets a summary, the log the cause. */
function fail(state: Open, thrown: unknown, message: string): SessionStep {
  return after({ kind: "logFailure", thrown, message }, end(state, RpcError.fromThrown(thrown)));
}

function end(state: Open, error: RpcError): SessionStep {
  return close(state, error, error.message);
}

function close(state: Open, how: RpcError | "complete" | "disconnected", why: string): SessionStep {
  const closed: SessionEffect = { kind: "close", how };
  if (state.kind === "registering") return withEffect({ kind: "ending", why }, closed);
  const epoch = state.kind === "connected" ? state.epoch : 0;
  return { state: { kind: "ended" }, effects: [closed, { kind: "release", epoch, why }] };
}

function settle(why: string, event: SessionEvent): SessionStep | undefined {
  switch (event.kind) {
    case "registered":
      return release(event.registration.epoch, why);
    case "registrationSkipped":
    case "registrationFailed":
      return release(0, why);
    default:
      return undefined;
  }
}

function release(epoch: number, why: string): SessionStep {
  return withEffect({ kind: "ended" }, { kind: "release", epoch, why });
}

function unchanged(state: SessionState): SessionStep {
  return { state, effects: [] };
}

function withEffect(state: SessionState, effect: SessionEffect): SessionStep {
  return { state, effects: [effect] };
}

function after(effect: SessionEffect, { state, effects }: SessionStep): SessionStep {
  return { state, effects: [effect, ...effects] };
}

function violation(message: string): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, hubErrors.PROTOCOL_VIOLATION, message);
}

function certificateExpired(): RpcError {
  const message = "the agent's certificate has expired; reconnect with the renewed one";
  return new RpcError(status.UNAUTHENTICATED, hubErrors.AGENT_UNKNOWN, message, reconnectNow());
}

function reportMissed(name: string): RpcError {
  const message = `the hub's cache did not have deployment ${name} yet when the agent reported on it; reconnect and report again`;
  return new RpcError(status.UNAVAILABLE, hubErrors.HUB_NOT_READY, message, reconnectNow());
}
