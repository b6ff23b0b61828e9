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
  type SendQueue,
  supportedVersions,
  writeMessage,
} from "@flotilla/proto";
import { agentCapabilities } from "@flotilla/shared/api";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import { type StatusObject, status } from "@grpc/grpc-js";
import { agentErrors } from "../../base/errors/index.ts";
import { wrongHub } from "../../base/index.ts";
import type { StreamOutbox } from "../../observe/index.ts";
import type { HubStream, Intake } from "../../state/index.ts";
import {
  type AnswerRequest,
  createOpenRequests,
  type OpenRequests,
} from "../requests/open-requests.ts";
import { createMessageHandler, type HandleMessage } from "./handle-message.ts";
import { createKeyedTasks, type KeyedTasks } from "./keyed-tasks.ts";

export interface SessionOptions {
  readonly stream: HubStream;
  /** The agent's hub; the session ends at once when another hub answers. */
  readonly hubId: string;
  readonly agentVersion: string;
  readonly agentNamespace: string;
  /** The version of the cluster's Kubernetes; absent: it is not known. */
  readonly kubernetesVersion?: string | undefined;
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
  return await new Session(options).run();
}

/** From Hello to the stream's end. It runs once. */
class Session {
  readonly #options: SessionOptions;
  readonly #outgoing: SendQueue<AgentMessage>;
  readonly #tasks: KeyedTasks;
  readonly #requests: OpenRequests;
  readonly #handle: HandleMessage;
  /** The status with which the stream has ended. */
  readonly #over = Promise.withResolvers<StatusObject>();
  /** Why this side has ended the stream; no message is received from then on. */
  #failure: AppError | undefined;
  /** On the monotonic clock; undefined before the hub's Welcome. */
  #welcomedAt: number | undefined;
  /** `signal` has closed the stream. */
  #isLocal = false;
  /** Fails the session unless the hub answers, and then unless it sends Welcome. */
  #welcomeTimer: Timer | undefined;

  constructor(options: SessionOptions) {
    const { stream, log } = options;
    this.#options = options;
    this.#outgoing = createSendQueue<AgentMessage>({
      send: (message) => writeMessage(stream, agentMessageToWire(message)),
      onError: (thrown) => log.debug({ err: messageOf(thrown) }, "stream accepts no more messages"),
    });
    this.#tasks = createKeyedTasks({
      limit: maxConcurrentStores,
      onFull: () => stream.pause(),
      onRoom: () => stream.resume(),
      onFailed: (thrown) => this.#fail(AppError.from(thrown)),
    });
    const outgoing = this.#outgoing;
    this.#requests = createOpenRequests({ ...options, outgoing });
    const [tasks, requests] = [this.#tasks, this.#requests];
    this.#handle = createMessageHandler({ ...options, outgoing, tasks, requests });
  }

  async run(): Promise<SessionEnd> {
    const { stream, outbox, clock, signal } = this.#options;
    this.#failAfter(answerTimeoutMs, "the hub did not answer within 30 s");
    stream.once("metadata", () => {
      if (this.#welcomedAt !== undefined || this.#failure !== undefined) return;
      this.#failAfter(welcomeTimeoutMs, "the hub did not answer Hello within 60 s");
    });
    stream.on("data", (wire: ReadHubMessage) => this.#read(wire));
    stream.on("status", this.#over.resolve);
    // Every error is a status as well; without a listener Node would end the process.
    stream.on("error", () => undefined);
    const close = () => this.#close();
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) close();
    this.#outgoing.put("hello", () => hello(this.#options));

    const ended = await this.#over.promise;
    this.#welcomeTimer?.cancel();
    signal.removeEventListener("abort", close);
    outbox.detach();
    this.#requests.close();
    this.#outgoing.close();
    // The next Hello lists what is stored, so all that arrived on this stream must be stored by then.
    await this.#tasks.idle();
    return {
      isGoingAway: isReconnectRequest(ended.metadata),
      isLocal: this.#isLocal,
      message: this.#failure?.message ?? ended.details,
      code: this.#failure?.code ?? status[ended.code],
      connectedMs: this.#welcomedAt === undefined ? 0 : clock.monotonic() - this.#welcomedAt,
    };
  }

  #read(wire: ReadHubMessage): void {
    if (this.#failure !== undefined) return;
    try {
      this.#receive(hubMessageFromWire(wire));
    } catch (thrown) {
      this.#fail(thrown instanceof AppError ? thrown : protocolError(messageOf(thrown)));
    }
  }

  #receive(message: HubMessage): void {
    const { hubId, clock, onWelcome } = this.#options;
    if (message.kind === "welcome") {
      verifyWelcome(message, hubId);
      this.#welcomedAt = clock.monotonic();
      this.#welcomeTimer?.cancel();
      onWelcome?.(message.epoch);
      return;
    }
    if (this.#welcomedAt === undefined)
      throw protocolError("the hub's first message is not Welcome");
    this.#handle(message);
  }

  /** Instead of an earlier timeout. */
  #failAfter(timeoutMs: number, message: string): void {
    this.#welcomeTimer?.cancel();
    this.#welcomeTimer = this.#options.clock.setTimeout(
      () => this.#fail(protocolError(message)),
      timeoutMs,
    );
  }

  /** Ends the stream at once. The first failure is the reason of the end. */
  #fail(error: AppError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    const { stream } = this.#options;
    stream.cancel();
    // A paused stream does not end.
    stream.resume();
  }

  /** Ends the stream after what is being sent, if the hub agrees in time. */
  #close(): void {
    const { stream, clock } = this.#options;
    this.#isLocal = true;
    this.#outgoing.close();
    stream.end();
    const timer = clock.setTimeout(() => stream.cancel(), closeTimeoutMs);
    void this.#over.promise.then(() => timer.cancel());
  }
}

function hello({
  hubId,
  agentVersion,
  agentNamespace,
  kubernetesVersion,
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
    ...(kubernetesVersion !== undefined && { kubernetesVersion }),
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
