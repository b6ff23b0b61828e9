/** One stream to the hub, from Hello to its end. The next stream repeats what was not acknowledged. */

import {
  type AgentMessage,
  agentMessageToWire,
  createSendQueue,
  describeVersions,
  type HubMessage,
  hubMessageFromWire,
  isReconnectRequest,
  negotiateVersion,
  type ReadHubMessage,
  supportedVersions,
  writeMessage,
} from "@flotilla/proto";
import { agentCapabilities } from "@flotilla/shared/api";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { type StatusObject, status } from "@grpc/grpc-js";
import { agentErrors } from "../../base/errors/index.ts";
import { wrongHub } from "../../base/index.ts";
import type { StreamOutbox } from "../../observe/index.ts";
import type { HubStream, Intake } from "../../state/index.ts";
import { type AnswerRequest, createOpenRequests } from "../requests/open-requests.ts";
import { createMessageHandler } from "./handle-message.ts";
import { createKeyedTasks } from "./keyed-tasks.ts";

export interface SessionOptions {
  readonly stream: HubStream;
  /** The agent's hub; the session ends at once when another hub answers. */
  readonly hubId: string;
  readonly agentVersion: string;
  readonly agentNamespace: string;
  /** The digest of the authorities that the agent verifies the hub with. */
  readonly authoritiesDigest: string;
  /** Replaces these authorities. Never rejects. */
  readonly setAuthorities: (authoritiesPem: string) => Promise<void>;
  readonly intake: Intake;
  readonly outbox: StreamOutbox;
  /** Answers requests of users. */
  readonly answer: AnswerRequest;
  readonly clock: Clock;
  readonly log: Log;
  /** Closes the stream gracefully. */
  readonly signal: AbortSignal;
  readonly onWelcome?: (epoch: number) => void;
}

export interface SessionEnd {
  /** The hub ended the stream without an error, because it shuts down or the certificate expires: reconnect at once. */
  readonly isGoingAway: boolean;
  /** This side ended the stream. */
  readonly isLocal: boolean;
  /** Why, for people. */
  readonly message: string;
  /** The name of a gRPC status, or a code of the catalogue. */
  readonly code: string;
  /** How long the session lasted after the hub's Welcome; 0 when there was none. */
  readonly connectedMs: number;
}

/** Messages that are stored concurrently; each may keep a content in memory. */
const maxConcurrentStores = 16;
/** The hub accepted the connection but has not answered. */
const answerTimeoutMs = 30_000;
/** After the hub's first answer: a hub that has just started may have to send Welcome to thousands of agents. */
const welcomeTimeoutMs = 60_000;
/** How long the hub has to end a stream that this side has closed. */
const closeTimeoutMs = 2_000;

/** Resolves when the stream has ended and all that arrived on it is stored or has failed. Never rejects. */
export async function runSession(options: SessionOptions): Promise<SessionEnd> {
  const { stream, outbox, clock, log, signal } = options;
  const over = Promise.withResolvers<StatusObject>();
  let failure: AppError | undefined;
  let welcomedAt: number | undefined;
  let isLocal = false;

  const outgoing = createSendQueue<AgentMessage>({
    send: (message) => writeMessage(stream, agentMessageToWire(message)),
    onError: (thrown) => log.debug({ err: messageOf(thrown) }, "stream accepts no more messages"),
  });
  const tasks = createKeyedTasks({
    limit: maxConcurrentStores,
    onFull: () => stream.pause(),
    onRoom: () => stream.resume(),
    onFailed: (thrown) => fail(AppError.from(thrown)),
  });
  const requests = createOpenRequests({ ...options, outgoing });
  const handle = createMessageHandler({ ...options, outgoing, tasks, requests });
  let welcomeTimer = failAfter(answerTimeoutMs, "the hub did not answer within 30 s");

  stream.once("metadata", () => {
    if (welcomedAt !== undefined || failure !== undefined) return;
    welcomeTimer.cancel();
    welcomeTimer = failAfter(welcomeTimeoutMs, "the hub did not answer Hello within 60 s");
  });
  stream.on("data", (wire: ReadHubMessage) => {
    if (failure !== undefined) return;
    try {
      receive(hubMessageFromWire(wire));
    } catch (thrown) {
      fail(thrown instanceof AppError ? thrown : protocolError(messageOf(thrown)));
    }
  });
  stream.on("status", over.resolve);
  // Every error is a status as well; without a listener Node would end the process.
  stream.on("error", () => undefined);
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  outgoing.put("hello", () => hello(options));

  const ended = await over.promise;
  welcomeTimer.cancel();
  signal.removeEventListener("abort", close);
  outbox.detach();
  requests.close();
  outgoing.close();
  // The next Hello lists what is stored, so all that arrived on this stream must be stored by then.
  await tasks.idle();
  return {
    isGoingAway: isReconnectRequest(ended.metadata),
    isLocal,
    message: failure?.message ?? ended.details,
    code: failure?.code ?? status[ended.code],
    connectedMs: welcomedAt === undefined ? 0 : clock.monotonic() - welcomedAt,
  };

  function receive(message: HubMessage): void {
    if (message.kind === "welcome") {
      verifyWelcome(message, options.hubId);
      welcomedAt = clock.monotonic();
      welcomeTimer.cancel();
      options.onWelcome?.(message.epoch);
      return;
    }
    if (welcomedAt === undefined) throw protocolError("the hub's first message is not Welcome");
    handle(message);
  }

  function failAfter(timeoutMs: number, message: string) {
    return clock.setTimeout(() => fail(protocolError(message)), timeoutMs);
  }

  function fail(error: AppError): void {
    if (failure !== undefined) return;
    failure = error;
    stream.cancel();
    stream.resume();
  }

  function close(): void {
    isLocal = true;
    outgoing.close();
    stream.end();
    const timer = clock.setTimeout(() => stream.cancel(), closeTimeoutMs);
    void over.promise.then(() => timer.cancel());
  }
}

function hello({
  hubId,
  agentVersion,
  agentNamespace,
  authoritiesDigest,
  intake,
}: SessionOptions): AgentMessage {
  const clusterInfoDigest = intake.clusterInfoDigest();
  return {
    kind: "hello",
    versions: supportedVersions,
    hubId,
    agentVersion,
    agentNamespace,
    deployments: intake.deployments(),
    referencedObjects: intake.referencedObjects(),
    authoritiesDigest,
    capabilities: agentCapabilities,
    ...(clusterInfoDigest !== undefined && { clusterInfoDigest }),
  };
}

/** Throws WRONG_HUB, and HUB_PROTOCOL when the hub chose a version that this agent does not support. */
function verifyWelcome(welcome: Extract<HubMessage, { kind: "welcome" }>, hubId: string): void {
  if (welcome.hubId !== hubId) throw wrongHub(welcome.hubId, hubId);
  const { protocolVersion: version } = welcome;
  const negotiation = negotiateVersion(supportedVersions, { oldest: version, newest: version });
  if (negotiation.kind === "incompatible") {
    throw protocolError(
      `the hub uses version ${version} of the protocol, this agent supports ${describeVersions(supportedVersions)}; upgrade the ${negotiation.outdated === "own" ? "agent" : "hub"}`,
    );
  }
}

function protocolError(message: string): AppError {
  return new AppError(agentErrors.HUB_PROTOCOL, message);
}
