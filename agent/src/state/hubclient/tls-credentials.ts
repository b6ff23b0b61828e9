/**
 * TLS credentials for connections to the hub that can be revoked.
 *
 * A grpc-js client (1.14) that is closed between two connection attempts still makes the next attempt, and keeps the
 * resulting connection open. With revoked credentials that attempt has no certificates and fails.
 */
import { type ChannelCredentials, experimental } from "@grpc/grpc-js";

export interface TlsMaterial {
  /** PEM of the authorities that the hub is verified with; no other is trusted. */
  readonly authoritiesPem: string;
  /** PEM of the client certificate. Without it the agent can only call Enroll. */
  readonly certificate?: { readonly chainPem: string; readonly keyPem: string };
}

export interface TlsCredentials {
  readonly credentials: ChannelCredentials;
  /** Fails new connections from now on. Open connections stay. */
  revoke(): void;
}

export function createTlsCredentials({ authoritiesPem, certificate }: TlsMaterial): TlsCredentials {
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
