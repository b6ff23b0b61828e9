/** The gRPC client of the hub: one TLS connection that trusts only the hub's own authorities. */
import { isIP } from "node:net";
import {
  certificateFromWire,
  type EnrollRequest,
  type EnrollResponse,
  enrollRequestToWire,
  enrollResponseFromWire,
  hubServerName,
  type IssuedCertificate,
  loadFleetService,
  maxMessageBytes,
  type ReadHubMessage,
  type WireAgentMessage,
} from "@flotilla/proto";
import type { ClientDuplexStream } from "@grpc/grpc-js";
import { toCallError } from "./call-error.ts";
import { createTlsCredentials, type TlsMaterial } from "./tls-credentials.ts";

export interface HubEndpoint extends TlsMaterial {
  /** `host:port`. */
  readonly address: string;
}

export type HubStream = ClientDuplexStream<WireAgentMessage, ReadHubMessage>;

/** Unary calls reject with HUB_CALL_FAILED, or KEY_REVOKED when the hub requests a new key. */
export interface HubClient {
  enroll(request: EnrollRequest): Promise<EnrollResponse>;
  /** `certificateRequest`: PKCS #10, DER. */
  renew(certificateRequest: Uint8Array): Promise<IssuedCertificate>;
  /** Opens the bidirectional stream; errors arrive as its status. */
  connect(): HubStream;
  /** Ends the connection and every call on it. */
  close(): void;
}

export type ConnectHub = (endpoint: HubEndpoint) => HubClient;

const callTimeoutMs = 30_000;

/** Loads the service definition once; the result opens a connection of its own each time it is called. */
export function createHubConnector(): ConnectHub {
  const Fleet = loadFleetService();
  return function connectHub(endpoint) {
    const { address } = endpoint;
    const { credentials, revoke } = createTlsCredentials(endpoint);
    const client = new Fleet(address, credentials, {
      // A connection without an answer to a ping within 8 s is closed: a broken link is detected within 18 s.
      "grpc.keepalive_time_ms": 10_000,
      "grpc.keepalive_timeout_ms": 8_000,
      "grpc.keepalive_permit_without_calls": 1,
      "grpc.max_receive_message_length": maxMessageBytes,
      "grpc.max_send_message_length": maxMessageBytes,
      "grpc.enable_channelz": 0,
      "grpc.enable_retries": 0,
      // A shared subchannel would wait for the backoff of an earlier connection that failed.
      "grpc.use_local_subchannel_pool": 1,
      ...(isIP(hostOf(address)) !== 0 && { "grpc.ssl_target_name_override": hubServerName }),
      ...(isLoopback(address) && { "grpc.enable_http_proxy": 0 }),
    });

    function call<T>(verb: string, start: (done: (error: unknown, value?: T) => void) => void) {
      return new Promise<T>((resolve, reject) => {
        start((error, value) => {
          if (value !== undefined && error === null) resolve(value);
          else reject(toCallError(verb, address, error));
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

function isLoopback(address: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(hostOf(address));
}

/** The host of `host:port` or `[host]:port`. */
function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}
