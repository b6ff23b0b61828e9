/** A hub of version 1 of the wire, as small as can be: one cluster, over real TLS, from the contract of that version. */

import type { CertificateAuthority } from "@flotilla/hub/authority/certificate-authority.ts";
import { readCertificateRequest } from "@flotilla/hub/identity/certificate-request.ts";
import type { FleetHandlers, ReadAgentMessage, WireHubMessage } from "@flotilla/proto/service.ts";
import { loadFleetV1 } from "@flotilla/proto/testing/fleet-v1.ts";
import { Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type Watched, watched } from "./watched.ts";

export interface V1Hub extends Watched {
  readonly port: number;
  /** What agents said, over all streams, in order. */
  readonly heard: readonly ReadAgentMessage[];
  readonly renewals: number;
  /** Says it on the present stream. */
  say(message: WireHubMessage): void;
  close(): void;
}

export async function startV1Hub(
  authority: CertificateAuthority,
  lifetimeMs: number,
): Promise<V1Hub> {
  const watch = watched();
  const heard: ReadAgentMessage[] = [];
  let stream: ServerDuplexStream<ReadAgentMessage, WireHubMessage> | undefined;
  let renewals = 0;
  let epoch = 0;

  async function issue(request: Buffer) {
    const { spki } = await readCertificateRequest(request);
    const identity = { hubId: "v1-hub", namespace: "fleet-default", name: "old", uid: "old-uid" };
    const chainPem = await authority.issueClient({ identity, spki, lifetimeMs });
    return { chainPem, authoritiesPem: authority.authoritiesPem };
  }

  function receive(message: ReadAgentMessage): void {
    heard.push(message);
    if (message.hello) {
      const { protocolVersion } = message.hello;
      if (protocolVersion !== 1) {
        const details = `the agent speaks version ${protocolVersion} of the protocol, this hub speaks 1; bring the older of the two up to date`;
        stream?.emit("error", { code: status.FAILED_PRECONDITION, details });
        return;
      }
      epoch += 1;
      stream?.write({
        welcome: { protocolVersion: 1, hubId: "v1-hub", epoch: String(epoch), hubVersion: "1" },
      });
      stream?.write({ synced: { orphans: [] } });
    }
    if (message.state) {
      const { name, sequence } = message.state;
      stream?.write({ stateReceived: { name, sequence } });
    }
    watch.changed();
  }

  const server = new Server();
  server.addService(loadFleetV1().service, {
    Enroll: (call, callback) => {
      void issue(call.request.certificateRequest).then((certificate) =>
        callback(null, {
          certificate,
          hubId: "v1-hub",
          clusterNamespace: "fleet-default",
          clusterName: "old",
          clusterUid: "old-uid",
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
    heard,
    get renewals() {
      return renewals;
    },
    say: (message) => void stream?.write(message),
    close: () => server.forceShutdown(),
    ...watch,
  };
}
