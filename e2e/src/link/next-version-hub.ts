/** A minimal hub of the made-up next version of the wire: one cluster, over real TLS. */

import { type CertificateAuthority, readCertificateRequest } from "@flotilla/hub/link";
import {
  type FleetHandlers,
  negotiateVersion,
  type ReadAgentMessage,
  type WireHubMessage,
} from "@flotilla/proto";
import { addedField, loadNextVersion, nextVersions } from "@flotilla/proto/testing";
import { Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type ChangeSignal, createChangeSignal } from "../harness/change-signal.ts";

export interface NextVersionHub extends ChangeSignal {
  readonly port: number;
  /** The messages of agents, over all streams, in order. */
  readonly received: readonly ReadAgentMessage[];
  readonly renewals: number;
  /** Sends a message on the latest stream. */
  send(message: WireHubMessage): void;
  close(): void;
}

const hubId = "next-hub";

export async function startNextVersionHub(
  authority: CertificateAuthority,
  lifetimeMs: number,
): Promise<NextVersionHub> {
  const watch = createChangeSignal();
  const received: ReadAgentMessage[] = [];
  let stream: ServerDuplexStream<ReadAgentMessage, WireHubMessage> | undefined;
  let renewals = 0;
  let epoch = 0;

  async function issue(request: Buffer) {
    const { spki } = await readCertificateRequest(request);
    const identity = { hubId, namespace: "fleet-default", name: "one", uid: "one-uid" };
    const chainPem = await authority.issueClient({ identity, spki, lifetimeMs });
    return { chainPem, authoritiesPem: authority.authoritiesPem };
  }

  function receive(message: ReadAgentMessage): void {
    received.push(message);
    if (message.hello) {
      const { oldestProtocolVersion: oldest, newestProtocolVersion: newest } = message.hello;
      const negotiation = negotiateVersion(nextVersions, { oldest, newest });
      if (negotiation.kind === "incompatible") {
        stream?.emit("error", { code: status.FAILED_PRECONDITION, details: "incompatible" });
        return;
      }
      epoch += 1;
      const protocolVersion = negotiation.version;
      const welcome = { protocolVersion, hubId, epoch: String(epoch), hubVersion: "next" };
      stream?.write({ welcome: { ...welcome, ...addedField } });
      stream?.write({ synced: { orphans: [] } });
    }
    if (message.state) {
      const { name, sequence } = message.state;
      stream?.write({ stateAck: { name, sequence } });
    }
    watch.changed();
  }

  const server = new Server();
  server.addService(loadNextVersion().service, {
    Enroll: (call, callback) => {
      void issue(call.request.certificateRequest).then((certificate) =>
        callback(null, {
          certificate,
          hubId,
          clusterNamespace: "fleet-default",
          clusterName: "one",
          clusterUid: "one-uid",
        }),
      );
    },
    Renew: (call, callback) => {
      renewals += 1;
      void issue(call.request.certificateRequest).then((certificate) =>
        callback(null, { certificate }),
      );
    },
    Connect: (call) => {
      stream = call;
      call.on("data", receive);
      call.on("end", () => call.end());
      call.on("error", () => undefined);
    },
  } satisfies FleetHandlers);
  const { chainPem, keyPem } = await authority.issueServing(["127.0.0.1"], 3_600_000);
  const credentials = ServerCredentials.createSsl(
    Buffer.from(authority.authoritiesPem),
    [{ private_key: Buffer.from(keyPem), cert_chain: Buffer.from(chainPem) }],
    false,
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return {
    port,
    received,
    get renewals() {
      return renewals;
    },
    send: (message) => void stream?.write(message),
    close: () => server.forceShutdown(),
    ...watch,
  };
}
