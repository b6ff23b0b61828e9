/**
 * Requests that replicas of the hub forward to each other, over HTTPS on an internal port. Both sides have certificates of the
 * hub's own authority that name them as replicas of this hub: an agent has none, nor has a replica of another hub.
 */

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, request as sendRequest } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { formatListenAddress, type ListenAddress } from "@flotilla/shared/program";
import { hubErrors } from "../../base/index.ts";
import type { RenewedCertificate } from "../authority/renewed-certificate.ts";
import { replicaInNames } from "../identity/replica-identity.ts";
import {
  type ForwardedRequest,
  forwardedJson,
  forwardedRequestSchema,
} from "./forwarded-request.ts";

/** Answers a request that another replica has authorized. */
export type AnswerForwarded = (
  request: ForwardedRequest,
  response: ServerResponse,
) => Promise<void>;

export interface LinkIdentity {
  readonly certificate: Pick<
    RenewedCertificate,
    "current" | "trustedPem" | "onRenewed" | "onTrusted"
  >;
  readonly hubId: string;
}

export interface ReplicaLink {
  /** `host:port` that it listens on. */
  readonly address: string;
  /** Answers others from now on; before that no connection is accepted. */
  serve(identity: LinkIdentity, answer: AnswerForwarded): void;
  /** The answer of another replica. Throws REPLICA_UNREACHABLE. */
  forward(
    to: TargetReplica,
    request: ForwardedRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage>;
  close(): Promise<void>;
}

export interface TargetReplica {
  readonly name: string;
  /** `host:port`. */
  readonly address: string;
}

const path = "/v1/forward";
/** A plan has a content and what it refers to. Only replicas of this hub send them. */
const maxBodyBytes = 6 * 1024 * 1024;
const tls = { requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" } as const;

/** Opens the port. Rejects when it cannot listen. */
export async function openReplicaLink(listen: ListenAddress): Promise<ReplicaLink> {
  let identity: LinkIdentity | undefined;
  let answer: AnswerForwarded | undefined;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const caller = replicaInNames(
      (request.socket as TLSSocket).getPeerCertificate().subjectaltname,
    );
    if (answer === undefined || caller === undefined || caller.hubId !== identity?.hubId) {
      response.writeHead(403).end("only replicas of this hub\n");
      return;
    }
    const forwarded = forwardedRequestSchema.safeParse(await readJson(request)).data;
    if (request.method !== "POST" || request.url !== path || forwarded === undefined) {
      response.writeHead(400).end("not a forwarded request of this version\n");
      return;
    }
    await answer(forwarded, response);
  }

  const server = createServer(tls, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  // A handshake that fails is the caller's to report.
  server.on("tlsClientError", () => undefined);
  server.listen(listen.port, listen.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  function useCertificate({ certificate }: LinkIdentity): void {
    const { current, trustedPem } = certificate;
    const { minVersion } = tls;
    const [key, cert] = [current.keyPem, current.chainPem];
    server.setSecureContext({ key, cert, ca: trustedPem, minVersion });
  }

  return {
    address: formatListenAddress({ host: listen.host, port }),
    serve(next, answering) {
      identity = next;
      answer = answering;
      useCertificate(next);
      next.certificate.onRenewed(() => useCertificate(next));
      next.certificate.onTrusted(() => useCertificate(next));
    },
    async forward({ name, address }, request, signal) {
      if (identity === undefined) throw unreachable(name, address, "this replica is starting");
      const { certificate, hubId } = identity;
      const [host, toPort] = [
        address.slice(0, address.lastIndexOf(":")),
        address.slice(address.lastIndexOf(":") + 1),
      ];
      const outgoing = sendRequest({
        host: host.replace(/^\[|\]$/g, ""),
        port: Number(toPort),
        path,
        method: "POST",
        signal,
        minVersion: tls.minVersion,
        agent: false,
        key: certificate.current.keyPem,
        cert: certificate.current.chainPem,
        ca: certificate.trustedPem,
        headers: { "content-type": "application/json" },
        checkServerIdentity(_host, peer) {
          const found = replicaInNames(peer.subjectaltname);
          return found?.hubId === hubId && found.replica === name
            ? undefined
            : new Error(`its certificate is not the certificate of replica ${name}`);
        },
      }).end(forwardedJson(request));
      try {
        const [response] = (await once(outgoing, "response")) as [IncomingMessage];
        return response;
      } catch (thrown) {
        throw unreachable(name, address, messageOf(thrown));
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function unreachable(name: string, address: string, why: string): AppError {
  return new AppError(
    hubErrors.REPLICA_UNREACHABLE,
    `forward the request to replica ${name} of the hub at ${address}: ${why}; retry`,
  );
}

/** Undefined for a body that is too long or no JSON. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    // Rejected as a request of another version.
    return undefined;
  }
}
