/** The hub's gRPC port: TLS with the hub's own authority, client certificates asked for but not required, one service. */
import { enrollRequestFromWire, enrollResponseToWire } from "@flotilla/proto/map.ts";
import { loadFleetService, maxMessageBytes } from "@flotilla/proto/service.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { experimental, Server, type sendUnaryData } from "@grpc/grpc-js";
import type { Enrollment } from "../enroll/enroll.ts";
import type { Handout } from "../handout/handout.ts";
import type { ServingIdentity } from "../identity/serving-identity.ts";
import { type AuthenticateDeps, createDoor } from "./authenticate.ts";
import { RpcError, statusOf } from "./errors.ts";
import { type IncomingHandlers, readable, withIncoming } from "./incoming.ts";
import { createOpenPort } from "./open-port.ts";
import { hostOf } from "./peer.ts";

export interface FleetServerDeps extends Omit<AuthenticateDeps, "enrollPath" | "drop"> {
  readonly serving: ServingIdentity;
  readonly enrollment: Enrollment;
  readonly handout: Handout;
}

export interface FleetServer {
  /** Gives the port; `port` 0 takes a free one. */
  listen(host: string, port: number): Promise<number>;
  /** Ends all streams so that agents come again at once, and the port; resolves after `graceMs` at the latest. */
  close(graceMs: number): Promise<void>;
}

/** The Cluster or, of whoever has no certificate yet, the address; `kind` is what a log calls it. */
interface Sender {
  readonly kind: "cluster" | "peer";
  readonly who: string;
}

/**
 * A peer that does not answer a ping within 8 s is gone: noticed at most 18 s after a cable was pulled. A shorter time would
 * take a machine that is merely busy for gone, and all agents with it at once; a longer one, agents to be Offline before
 * they notice that their replica stands still.
 */
const keepAlive = { "grpc.keepalive_time_ms": 10_000, "grpc.keepalive_timeout_ms": 8_000 } as const;

export function createFleetServer(deps: FleetServerDeps): FleetServer {
  const { serving, enrollment, handout, refusals, clock, log } = deps;
  const { service } = loadFleetService();
  const door = createDoor({
    ...deps,
    enrollPath: service.Enroll.path,
    drop: (peer) => port.drop(peer),
  });
  const server = new Server({
    ...keepAlive,
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    // An agent has one stream, and now and then a renewal beside it.
    "grpc.max_concurrent_streams": 16,
    // Nobody uses a connection without a call: it is forgotten, or of somebody who looks for open ports.
    "grpc.max_connection_idle_ms": 60_000,
    // Costs memory for each connection and is read by nobody.
    "grpc.enable_channelz": 0,
    interceptors: [door.interceptor],
  });
  server.addService(withIncoming(service), {
    Enroll: (call, callback) => {
      const work = async () =>
        enrollResponseToWire(
          await enrollment.enroll(
            parsed({ kind: "peer", who: hostOf(call.getPeer()) }, () =>
              enrollRequestFromWire(readable(call.request)),
            ),
            call.getPeer(),
          ),
        );
      answer(work, callback);
    },
    Renew: (call, callback) => {
      const work = async () => {
        const { identity } = door.callerOf(call);
        const { namespace, name } = identity;
        const { certificateRequest } = parsed(
          { kind: "cluster", who: keyOf({ namespace, name }) },
          () => readable(call.request),
        );
        return { certificate: await enrollment.renew(identity, certificateRequest) };
      };
      answer(work, callback);
    },
    Connect: (call) => handout.accept(call, door.callerOf(call)),
  } satisfies IncomingHandlers);
  // The declared names of the two arguments are the wrong way round in grpc-js; with one object for both it is right either way.
  const credentials = experimental.createCertificateProviderServerCredentials(
    serving,
    serving,
    false,
  );
  const connections = server.createConnectionInjector(credentials);
  const port = createOpenPort((socket) => connections.injectConnection(socket), log);

  /** What breaks the contract is the sender's fault. */
  function parsed<T>({ kind, who }: Sender, parse: () => T): T {
    try {
      return parse();
    } catch (thrown) {
      const answer = RpcError.protocolBroken(thrown);
      const fields = { [kind]: who, err: answer.message };
      const message = "agent broke the contract, so its request is refused";
      refusals.refused(who, { reason: "broken", fields, message });
      throw answer;
    }
  }

  return {
    listen: port.listen,
    close: async (graceMs) => {
      port.close();
      handout.close();
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

/** Runs `work` and gives its result or its failure to a callback of grpc-js. */
function answer<T>(work: () => Promise<T>, callback: sendUnaryData<T>): void {
  work().then(
    (value) => callback(null, value),
    (thrown: unknown) => callback(statusOf(RpcError.answerTo(thrown))),
  );
}
