/** One stream to the hub, from Hello to its end. What it leaves undone the next one does. */
import { isHandOver } from "@flotilla/proto/hand-over.ts";
import { agentMessageToWire, hubMessageFromWire } from "@flotilla/proto/map.ts";
import type { AgentMessage, DeploymentKey, HubMessage } from "@flotilla/proto/messages.ts";
import { createOutgoing, writeMessage } from "@flotilla/proto/outgoing.ts";
import type { ReadHubMessage } from "@flotilla/proto/service.ts";
import { agreeOnVersion, describeVersions, spokenVersions } from "@flotilla/proto/versions.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { supplyKey } from "@flotilla/shared/supply/supply.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { type StatusObject, status } from "@grpc/grpc-js";
import { linkErrors, wrongHub } from "./errors.ts";
import type { HubStream } from "./hub-client.ts";
import { createKeyedTasks } from "./keyed-tasks.ts";
import type { LinkOutbox } from "./outbox.ts";
import type { Intake } from "./ports.ts";

export interface ConnectionOptions {
  readonly stream: HubStream;
  /** The hub that the agent belongs to; another one is left at once. */
  readonly hubId: string;
  readonly agentVersion: string;
  readonly agentNamespace: string;
  /** Of what the hub is trusted by. */
  readonly authoritiesDigest: string;
  /** Takes what the hub is to be trusted by from now on. Never rejects. */
  readonly trust: (authoritiesPem: string) => Promise<void>;
  readonly intake: Intake;
  readonly outbox: LinkOutbox;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the stream in good order. */
  readonly signal: AbortSignal;
  readonly onWelcome?: (epoch: number) => void;
}

export interface ConnectionEnd {
  /** The hub ended it and said that nothing is wrong: connect again at once. */
  readonly isHandOver: boolean;
  /** Ended because this side was asked to. */
  readonly isOwn: boolean;
  /** Why, for people. */
  readonly message: string;
  readonly code: string;
  /** How long the stream lived after the hub's welcome; 0 when there was none. */
  readonly livedMs: number;
}

/** Deployments and supplies being stored at the same time; each may hold a content in memory. */
const mostStoredAtATime = 16;
/** Whatever takes connections and never answers is no hub, or one that stands still. */
const answerTimeoutMs = 30_000;
/** A hub that was started anew may have thousands of agents to welcome; that it is there it has said before. */
const welcomeTimeoutMs = 60_000;
/** How long the hub gets to end a stream that this side has ended. */
const goodbyeMs = 2_000;

/** Resolves once the stream has ended and nothing that came on it is still being stored. Never rejects. */
export async function runConnection(options: ConnectionOptions): Promise<ConnectionEnd> {
  const { stream, intake, outbox, clock, log, signal } = options;
  const over = Promise.withResolvers<StatusObject>();
  let failure: AppError | undefined;
  let welcomedAt: number | undefined;
  let isOwn = false;

  const outgoing = createOutgoing<AgentMessage>({
    send: (message) => writeMessage(stream, agentMessageToWire(message)),
    onBroken: (thrown) => log.debug({ err: messageOf(thrown) }, "stream takes no more messages"),
  });
  const tasks = createKeyedTasks({
    limit: mostStoredAtATime,
    onFull: () => stream.pause(),
    onRoom: () => stream.resume(),
    onFailed: (thrown) => giveUp(AppError.from(thrown)),
  });
  let welcomeTimer = clock.setTimeout(
    () => giveUp(protocolError("the hub did not answer within 30 s")),
    answerTimeoutMs,
  );

  stream.once("metadata", () => {
    if (welcomedAt !== undefined || failure !== undefined) return;
    welcomeTimer.cancel();
    welcomeTimer = clock.setTimeout(
      () => giveUp(protocolError("the hub did not answer Hello within 60 s")),
      welcomeTimeoutMs,
    );
  });
  stream.on("data", (wire: ReadHubMessage) => {
    if (failure !== undefined) return;
    try {
      receive(hubMessageFromWire(wire));
    } catch (thrown) {
      giveUp(thrown instanceof AppError ? thrown : protocolError(messageOf(thrown)));
    }
  });
  stream.on("status", over.resolve);
  // Every error is a status as well; without a listener Node would end the process.
  stream.on("error", () => undefined);
  signal.addEventListener("abort", goodbye, { once: true });
  if (signal.aborted) goodbye();

  outgoing.put("hello", () => ({
    kind: "hello",
    versions: spokenVersions,
    hubId: options.hubId,
    agentVersion: options.agentVersion,
    agentNamespace: options.agentNamespace,
    holdings: intake.holdings(),
    supplies: intake.supplies(),
    authoritiesDigest: options.authoritiesDigest,
    ...given(intake.factsDigest()),
  }));

  const ended = await over.promise;
  welcomeTimer.cancel();
  signal.removeEventListener("abort", goodbye);
  outbox.detach();
  outgoing.close();
  // The next Hello says what is held: what came on this stream has to be stored by then.
  await tasks.idle();
  return {
    isHandOver: isHandOver(ended.metadata),
    isOwn,
    message: failure?.message ?? ended.details,
    code: failure?.code ?? status[ended.code],
    livedMs: welcomedAt === undefined ? 0 : clock.monotonic() - welcomedAt,
  };

  function receive(message: HubMessage): void {
    if (message.kind === "welcome") {
      checkWelcome(message);
      welcomedAt = clock.monotonic();
      welcomeTimer.cancel();
      options.onWelcome?.(message.epoch);
      return;
    }
    if (welcomedAt === undefined) throw protocolError("the hub's first message was no Welcome");
    switch (message.kind) {
      case "deployment": {
        const { kind: _, ...assignment } = message;
        const { deployment, deploymentId } = assignment;
        tasks.add(deployment.name, async () => {
          if (await intake.assign(assignment)) sayReceived(deployment, deploymentId);
        });
        return;
      }
      case "withdrawal":
        tasks.add(message.deployment.name, async () => {
          if (await intake.withdraw(message.deployment)) sayReceived(message.deployment);
        });
        return;
      case "synced":
        if (message.orphans.length > 0) {
          log.warn(
            { orphans: message.orphans.slice(0, 10), count: message.orphans.length },
            "the hub does not know all that runs here; it keeps running",
          );
        }
        outbox.attach(outgoing, intake.states());
        return;
      case "stateReceived":
        outbox.acknowledged(message.name, message.sequence);
        return;
      case "facts": {
        const { digest, content: bytes } = message;
        tasks.add("facts/", async () => void (await intake.takeFacts({ digest, bytes })));
        return;
      }
      case "supply":
        tasks.add(
          supplyKey(message.supply),
          async () => void (await intake.takeSupply(message.supply)),
        );
        return;
      case "supplyWithdrawal":
        tasks.add(supplyKey(message.supply), () => intake.dropSupply(message.supply));
        return;
      case "authorities":
        tasks.add("authorities/", () => options.trust(message.pem));
        return;
    }
  }

  function checkWelcome(welcome: Extract<HubMessage, { kind: "welcome" }>): void {
    if (welcome.hubId !== options.hubId) {
      throw wrongHub(welcome.hubId, options.hubId);
    }
    const { protocolVersion: version } = welcome;
    const agreement = agreeOnVersion(spokenVersions, { oldest: version, newest: version });
    if (agreement.kind === "none") {
      throw protocolError(
        `the hub speaks version ${version} of the protocol, this agent speaks ${describeVersions(spokenVersions)}; bring the ${agreement.outdated === "own" ? "agent" : "hub"} up to date`,
      );
    }
  }

  function sayReceived(deployment: DeploymentKey, deploymentId?: string): void {
    outgoing.put(`received/${deployment.name}`, () => ({
      kind: "received",
      deployment,
      ...(deploymentId !== undefined && { deploymentId }),
    }));
  }

  function giveUp(why: AppError): void {
    if (failure !== undefined) return;
    failure = why;
    stream.cancel();
    stream.resume();
  }

  function goodbye(): void {
    isOwn = true;
    outgoing.close();
    stream.end();
    const timer = clock.setTimeout(() => stream.cancel(), goodbyeMs);
    void over.promise.then(() => timer.cancel());
  }
}

function given(factsDigest: string | undefined): { readonly factsDigest?: string } {
  return factsDigest === undefined ? {} : { factsDigest };
}

function protocolError(message: string): AppError {
  return new AppError(linkErrors.HUB_PROTOCOL, message);
}
