/** The hub's gRPC port: TLS with the hub's own authority, client certificates asked for but not required, one service. */
import { enrollRequestFromWire, enrollResponseToWire } from "@flotilla/proto/map.ts";
import { type FleetHandlers, loadFleetService, maxMessageBytes } from "@flotilla/proto/service.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { experimental, Server, type sendUnaryData } from "@grpc/grpc-js";
import type { Enrollment } from "../enroll/enroll.ts";
import type { Handout } from "../handout/handout.ts";
import type { ServingIdentity } from "../identity/serving-identity.ts";
import { identityOf } from "./agent-certificate.ts";
import { type AuthenticateDeps, authenticateAgents } from "./authenticate.ts";
import { RpcError, serveErrors, statusOf } from "./errors.ts";
import { withSmallRequests } from "./small-requests.ts";

export interface FleetServerDeps extends Omit<AuthenticateDeps, "enrollPath"> {
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

/**
 * A peer that does not answer a ping within 8 s is gone: noticed at most 18 s after a cable was pulled. A shorter time would
 * take a machine that is merely busy for gone, and all agents with it at once; a longer one, agents to be Offline before
 * they notice that their replica stands still.
 */
const keepAlive = { "grpc.keepalive_time_ms": 10_000, "grpc.keepalive_timeout_ms": 8_000 } as const;

export function createFleetServer(deps: FleetServerDeps): FleetServer {
  const { serving, enrollment, handout, clock } = deps;
  const { service } = loadFleetService();
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
    interceptors: [authenticateAgents({ ...deps, enrollPath: service.Enroll.path })],
  });
  server.addService(withSmallRequests(service), {
    Enroll: (call, callback) => {
      const work = async () =>
        enrollResponseToWire(
          await enrollment.enroll(
            parsed(() => enrollRequestFromWire(call.request)),
            call.getPeer(),
          ),
        );
      answer(work, callback);
    },
    Renew: (call, callback) => {
      const work = async () => ({
        certificate: await enrollment.renew(
          identityOf(call).identity,
          call.request.certificateRequest,
        ),
      });
      answer(work, callback);
    },
    Connect: (call) => handout.accept(call, identityOf(call)),
  } satisfies FleetHandlers);
  // The declared names of the two arguments are the wrong way round in grpc-js; with one object for both it is right either way.
  const credentials = experimental.createCertificateProviderServerCredentials(
    serving,
    serving,
    false,
  );

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
        server.bindAsync(address, credentials, (error, bound) => {
          if (error === null) resolve(bound);
          else {
            const message = `the gRPC port ${address} cannot be opened: ${messageOf(error)}`;
            reject(new AppError(serveErrors.PORT_UNAVAILABLE, message, { cause: error }));
          }
        });
      }),
    close: async (graceMs) => {
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

/** What breaks the contract is the sender's fault. */
function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw RpcError.protocolBroken(thrown);
  }
}
