/** The hub's gRPC server: TLS with the hub's own authority, client certificates requested but not required, one service. */
import {
  enrollRequestFromWire,
  enrollResponseToWire,
  loadFleetService,
  maxMessageBytes,
} from "@flotilla/proto";
import { keyOf } from "@flotilla/shared/kube/objects";
import { experimental, Server, type sendUnaryData } from "@grpc/grpc-js";
import type { ServingCertificates } from "../authority/serving-certificate.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Enrolment } from "../enrolment/enrolment.ts";
import { RpcError, toGrpcError } from "../rpc/errors.ts";
import { decoded, type IncomingHandlers, withIncomingDecoders } from "../rpc/incoming.ts";
import { hostOf, type Rejections } from "../rpc/rejections.ts";
import { type AuthenticationDeps, createAuthentication } from "./authentication.ts";
import { createAgentPort } from "./port.ts";

export interface FleetServerDeps extends Omit<AuthenticationDeps, "enrollPath" | "connections"> {
  readonly serving: ServingCertificates;
  readonly enrolment: Enrolment;
  readonly dispatcher: Dispatcher;
}

/** `kind` is the field of the log: the Cluster, or the address of a peer without a certificate. */
interface Sender {
  readonly kind: "cluster" | "peer";
  readonly name: string;
}

/**
 * A peer that does not answer a ping within 8 s is disconnected: detected at most 18 s after the network was cut. A
 * shorter time would drop a busy machine, with all its agents at once; a longer one would show agents as offline before
 * they notice that their replica is frozen.
 */
const keepAlive = { "grpc.keepalive_time_ms": 10_000, "grpc.keepalive_timeout_ms": 8_000 } as const;

const serverOptions = {
  ...keepAlive,
  "grpc.max_receive_message_length": maxMessageBytes,
  "grpc.max_send_message_length": maxMessageBytes,
  // An agent has one stream, and now and then a renewal beside it.
  "grpc.max_concurrent_streams": 16,
  // A connection without calls is unused, or belongs to a port scanner.
  "grpc.max_connection_idle_ms": 60_000,
  // Costs memory for each connection.
  "grpc.enable_channelz": 0,
} as const;

export function createFleetServer(deps: FleetServerDeps) {
  const { serving, enrolment, dispatcher, rejections, clock, log } = deps;
  const { service } = loadFleetService();
  const authentication = createAuthentication({
    ...deps,
    enrollPath: service.Enroll.path,
    connections: {
      authenticated: (peer) => port.authenticated(peer),
      bytesFrom: (peer) => port.bytesFrom(peer),
      closeConnection: (peer) => port.closeConnection(peer),
    },
  });
  const server = new Server({ ...serverOptions, interceptors: [authentication.interceptor] });
  server.addService(withIncomingDecoders(service), {
    Enroll: (call, callback) => {
      const peer = call.getPeer();
      const work = async () => {
        const request = parse(rejections, { kind: "peer", name: hostOf(peer) }, () =>
          enrollRequestFromWire(decoded(call.request)),
        );
        const response = await enrolment.enroll(request, peer);
        port.enrolled(peer);
        return enrollResponseToWire(response);
      };
      answer(work, callback);
    },
    Renew: (call, callback) => {
      const work = async () => {
        const { identity } = authentication.callerOf(call);
        const { namespace, name } = identity;
        const sender = { kind: "cluster", name: keyOf({ namespace, name }) } as const;
        const { certificateRequest } = parse(rejections, sender, () => decoded(call.request));
        return { certificate: await enrolment.renew(identity, certificateRequest) };
      };
      answer(work, callback);
    },
    Connect: (call) => dispatcher.accept(call, authentication.callerOf(call)),
  } satisfies IncomingHandlers);
  // grpc-js declares the two arguments in the wrong order; with one object for both either order is right.
  const credentials = experimental.createCertificateProviderServerCredentials(
    serving,
    serving,
    false,
  );
  const connections = server.createConnectionInjector(credentials);
  const port = createAgentPort({
    onConnection: (socket) => connections.injectConnection(socket),
    rejections,
    clock,
    log,
  });

  return {
    /** Returns the port; `port` 0 takes a free one. */
    listen: port.listen,
    /** Ends all streams so that agents reconnect at once, then the server; resolves after `graceMs` at the latest. */
    close: async (graceMs: number): Promise<void> => {
      port.close();
      dispatcher.close();
      await new Promise<void>((resolve) => {
        const timer = clock.setTimeout(() => {
          server.forceShutdown();
          resolve();
        }, graceMs);
        server.tryShutdown(() => {
          timer.cancel();
          resolve();
        });
      });
    },
  };
}

/** What cannot be parsed violates the protocol: counted, logged and answered. */
function parse<T>(rejections: Rejections, { kind, name }: Sender, parseRequest: () => T): T {
  try {
    return parseRequest();
  } catch (thrown) {
    const error = RpcError.protocolViolation(thrown);
    const fields = { [kind]: name, err: error.message };
    const message = "protocol violation by the agent; rejecting its request";
    rejections.rejected(name, { reason: "protocol_violation", fields, message });
    throw error;
  }
}

/** Answers a unary call of grpc-js with the result of `work`, or with its failure. */
function answer<T>(work: () => Promise<T>, callback: sendUnaryData<T>): void {
  work().then(
    (value) => callback(null, value),
    (thrown: unknown) => callback(toGrpcError(RpcError.fromThrown(thrown))),
  );
}
