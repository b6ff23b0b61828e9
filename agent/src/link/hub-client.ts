/** Calls of the hub, over one connection: TLS, trusting only the hub's own authorities. */
import { isIP } from "node:net";
import { hubServerName } from "@flotilla/proto/authorities.ts";
import {
  certificateFromWire,
  enrollRequestToWire,
  enrollResponseFromWire,
} from "@flotilla/proto/map.ts";
import type { EnrollRequest, EnrollResponse, IssuedCertificate } from "@flotilla/proto/messages.ts";
import {
  loadFleetService,
  maxMessageBytes,
  type ReadHubMessage,
  type WireAgentMessage,
} from "@flotilla/proto/service.ts";
import { isNewKeyRequired } from "@flotilla/proto/trailers.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { type ClientDuplexStream, type Metadata, status } from "@grpc/grpc-js";
import { linkErrors } from "./errors.ts";
import { createHubCredentials } from "./hub-credentials.ts";
import { whatFailed } from "./why-not-connected.ts";

export interface HubEndpoint {
  /** `host:port`. */
  readonly address: string;
  readonly authoritiesPem: string;
  /** PEM. Without it the agent can only enrol. */
  readonly certificate?: { readonly chainPem: string; readonly keyPem: string };
}

export type HubStream = ClientDuplexStream<WireAgentMessage, ReadHubMessage>;

export interface HubClient {
  enroll(request: EnrollRequest): Promise<EnrollResponse>;
  renew(certificateRequest: Uint8Array): Promise<IssuedCertificate>;
  connect(): HubStream;
  close(): void;
}

export type ConnectHub = (endpoint: HubEndpoint) => HubClient;

const callTimeoutMs = 30_000;

/** Reads the contract once; what it gives makes a connection for each call. */
export function createHubConnector(): ConnectHub {
  const Fleet = loadFleetService();
  return function connectHub(endpoint) {
    const { address } = endpoint;
    const { credentials, revoke } = createHubCredentials(endpoint);
    const client = new Fleet(address, credentials, {
      // A hub that does not answer a ping within 8 s is gone: noticed at most 18 s after a cable was pulled.
      "grpc.keepalive_time_ms": 10_000,
      "grpc.keepalive_timeout_ms": 8_000,
      "grpc.keepalive_permit_without_calls": 1,
      "grpc.max_receive_message_length": maxMessageBytes,
      "grpc.max_send_message_length": maxMessageBytes,
      "grpc.enable_channelz": 0,
      "grpc.enable_retries": 0,
      // Its own connection: a shared one would wait out the backoff of an earlier one that failed.
      "grpc.use_local_subchannel_pool": 1,
      ...(isIP(hostOf(address)) !== 0 && { "grpc.ssl_target_name_override": hubServerName }),
      ...(isLoopback(address) && { "grpc.enable_http_proxy": 0 }),
    });

    function call<T>(what: string, start: (done: (error: unknown, value?: T) => void) => void) {
      return new Promise<T>((resolve, reject) => {
        start((error, value) => {
          if (value !== undefined && error === null) resolve(value);
          else reject(failureOf(what, address, error));
        });
      });
    }
    const options = () => ({ deadline: Date.now() + callTimeoutMs });

    return {
      async enroll(request) {
        return enrollResponseFromWire(
          await call("enrol with", (done) =>
            client.enroll(enrollRequestToWire(request), options(), done),
          ),
        );
      },
      async renew(certificateRequest) {
        const answer = await call<{ certificate: Parameters<typeof certificateFromWire>[0] }>(
          "renew the certificate at",
          (done) =>
            client.renew({ certificateRequest: Buffer.from(certificateRequest) }, options(), done),
        );
        return certificateFromWire(answer.certificate);
      },
      connect: () => client.connect(),
      close() {
        revoke();
        client.close();
      },
    };
  };
}

function failureOf(what: string, address: string, error: unknown): AppError {
  const { code, details, metadata } = error as {
    readonly code?: status;
    readonly details?: string;
    readonly metadata?: Metadata;
  };
  const name = code === undefined ? "an unknown error" : status[code];
  return new AppError(
    isNewKeyRequired(metadata) ? linkErrors.KEY_REVOKED : linkErrors.HUB_CALL_FAILED,
    `could not ${what} the hub at ${address}: ${whatFailed(name, details ?? "")} (${name})`,
    { cause: error },
  );
}

function isLoopback(address: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(hostOf(address));
}

/** Of `host:port` or `[host]:port`. */
function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}
