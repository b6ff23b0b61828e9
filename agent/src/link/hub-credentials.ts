/**
 * What a connection to the hub is made with, until it is given up.
 *
 * A client of grpc-js that is closed between two tries makes its next try all the same (1.14), and keeps what comes of it for
 * ever: a connection that nobody uses and both sides keep alive. Here such a try finds no certificates and ends.
 */
import { type ChannelCredentials, experimental } from "@grpc/grpc-js";
import type { HubEndpoint } from "./hub-client.ts";

export interface HubCredentials {
  readonly credentials: ChannelCredentials;
  /** From now on no connection is made with them. Those that are open stay. */
  revoke(): void;
}

export function createHubCredentials({
  authoritiesPem,
  certificate,
}: Pick<HubEndpoint, "authoritiesPem" | "certificate">): HubCredentials {
  const listeners = new Set<experimental.CaCertificateUpdateListener>();
  const caCertificate = Buffer.from(authoritiesPem);
  const identity = certificate && {
    certificate: Buffer.from(certificate.chainPem),
    privateKey: Buffer.from(certificate.keyPem),
  };
  const provider: experimental.CertificateProvider = {
    addCaCertificateListener(listener) {
      listeners.add(listener);
      listener({ caCertificate });
    },
    removeCaCertificateListener: (listener) => void listeners.delete(listener),
    addIdentityCertificateListener: (listener) => listener(identity ?? null),
    removeIdentityCertificateListener: () => undefined,
  };
  return {
    credentials: experimental.createCertificateProviderChannelCredentials(
      provider,
      identity === undefined ? null : provider,
    ),
    revoke() {
      for (const listener of listeners) listener(null);
    },
  };
}
