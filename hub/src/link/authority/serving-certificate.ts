/** The serving certificate of the hub's port, and the authorities for client certificates, as grpc-js takes them. */
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { experimental } from "@grpc/grpc-js";
import type { ServingCertificate } from "./certificate-authority.ts";
import type { LiveAuthority } from "./live-authority.ts";
import { RenewedCertificate } from "./renewed-certificate.ts";

export interface ServingCertificatesOptions {
  readonly authority: Pick<LiveAuthority, "record" | "trusted" | "issueServing" | "onChange">;
  /** DNS names and IP addresses by which agents reach the hub. */
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly lifetimeMs?: number;
}

/** Provides grpc-js with the port's certificate and with the authorities of client certificates. */
export interface ServingCertificates extends experimental.CertificateProvider {
  stop(): void;
}

export async function createServingCertificates(
  options: ServingCertificatesOptions,
): Promise<ServingCertificates> {
  const { authority, names } = options;
  const listeners = new Set<experimental.IdentityCertificateUpdateListener>();
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  const renewed = await RenewedCertificate.issue({
    ...options,
    issue: (lifetimeMs) => authority.issueServing(names, lifetimeMs),
    name: "serving certificate",
  });
  const caUpdate = () => ({ caCertificate: Buffer.from(renewed.trustedPem) });
  renewed.onTrusted(() => {
    for (const listener of caListeners) listener(caUpdate());
  });
  renewed.onRenewed(() => {
    for (const listener of listeners) listener(toUpdate(renewed.current));
  });

  return {
    // Asynchronously: grpc-js adds the listener before it handles updates.
    addCaCertificateListener(listener) {
      caListeners.add(listener);
      queueMicrotask(() => listener(caUpdate()));
    },
    removeCaCertificateListener: (listener) => void caListeners.delete(listener),
    addIdentityCertificateListener(listener) {
      listeners.add(listener);
      queueMicrotask(() => listener(toUpdate(renewed.current)));
    },
    removeIdentityCertificateListener: (listener) => void listeners.delete(listener),
    stop: () => renewed.stop(),
  };
}

function toUpdate(serving: ServingCertificate): experimental.IdentityCertificateUpdate {
  return {
    certificate: Buffer.from(serving.chainPem),
    privateKey: Buffer.from(serving.keyPem),
  };
}
