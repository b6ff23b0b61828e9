/** A minimal agent, with an identity and a stream, for messages that a correct agent never sends. */
import {
  type AgentIdentity,
  createHubConnector,
  createIdentityController,
  createIdentityStore,
  type HubClient,
  type HubStream,
} from "@flotilla/agent/state";
import {
  type AgentMessage,
  agentMessageToWire,
  type HubMessage,
  hubMessageFromWire,
  supportedVersions,
} from "@flotilla/proto";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { systemClock } from "@flotilla/shared/time";
import { type StatusObject, status } from "@grpc/grpc-js";
import { type ChangeSignal, createChangeSignal, testLog } from "../harness/change-signal.ts";
import { hangMs } from "../harness/hang.ts";
import { createBootstrap } from "../harness/registration.ts";

export interface RawStream extends ChangeSignal {
  readonly stream: HubStream;
  /** The messages since `listen`. */
  readonly received: readonly HubMessage[];
  /** Begins to read. */
  listen(): void;
  send(message: AgentMessage): void;
  /** `NAME: details`, of the status that the stream ended with. */
  readonly ended: Promise<string>;
  close(): void;
}

/** Enrols under a name, with a new key unless the namespace has one. */
export async function enrolRawAgent(
  rest: KubeRest,
  token: Readonly<Record<string, string>>,
  name: string,
): Promise<AgentIdentity> {
  const namespace = `agent-${name}`;
  await createBootstrap(rest, namespace, token, { clusterName: name, clientID: `client-${name}` });
  const { log } = testLog();
  const controller = createIdentityController({
    store: createIdentityStore(rest, namespace, log),
    connectHub: createHubConnector(),
    clock: systemClock,
    log,
  });
  const enrolled = new AbortController();
  const running = controller.run(enrolled.signal);
  try {
    return await controller.waitForIdentity(AbortSignal.timeout(hangMs));
  } finally {
    enrolled.abort();
    await running;
  }
}

export function openRawStream(identity: AgentIdentity): RawStream {
  const client: HubClient = createHubConnector()({
    address: identity.hubAddress,
    authoritiesPem: identity.authoritiesPem,
    certificate: identity,
  });
  const stream = client.connect();
  const watch = createChangeSignal();
  const received: HubMessage[] = [];
  const ended = new Promise<string>((resolve) => {
    stream.on("status", ({ code, details }: StatusObject) =>
      resolve(`${status[code]}: ${details}`),
    );
  });
  stream.on("error", () => undefined);
  return {
    stream,
    received,
    listen: () =>
      void stream.on("data", (wire: Parameters<typeof hubMessageFromWire>[0]) => {
        received.push(hubMessageFromWire(wire));
        watch.changed();
      }),
    send: (message) => void stream.write(agentMessageToWire(message)),
    ended,
    close() {
      stream.cancel();
      client.close();
    },
    ...watch,
  };
}

export function hello(identity: AgentIdentity, hubId = identity.hubId): AgentMessage {
  return {
    kind: "hello",
    versions: supportedVersions,
    hubId,
    agentVersion: "test",
    agentNamespace: "test",
    deployments: [],
    referencedObjects: [],
  };
}
