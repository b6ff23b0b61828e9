/**
 * The certificate that the hub's port shows, made anew before it ends. Connections that are open keep the one that they
 * began with; only new ones get the newer.
 */
import type { Clock, Timer } from "@flotilla/shared/clock/clock.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { experimental } from "@grpc/grpc-js";
import type { CertificateAuthority, ServingCertificate } from "./certificate-authority.ts";

export interface ServingIdentityOptions {
  readonly authority: CertificateAuthority;
  /** DNS names and IP addresses that agents reach the hub by. */
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly lifetimeMs?: number;
}

/** What grpc-js asks for the port's certificate and for the authorities that client certificates are checked against. */
export interface ServingIdentity extends experimental.CertificateProvider {
  stop(): void;
}

const defaultLifetimeMs = 30 * 24 * 3_600_000;
const retryMs = 60_000;

export async function createServingIdentity(
  options: ServingIdentityOptions,
): Promise<ServingIdentity> {
  const { authority, names, clock, log, lifetimeMs = defaultLifetimeMs } = options;
  const listeners = new Set<experimental.IdentityCertificateUpdateListener>();
  const caCertificate = Buffer.from(authority.authoritiesPem);
  let current = await authority.issueServing(names, lifetimeMs);
  let timer = schedule(renewalDelay());
  let stopped = false;

  function renewalDelay(): number {
    return Math.max(retryMs, ((current.notAfter - clock.now()) * 2) / 3);
  }

  function schedule(delayMs: number): Timer {
    return clock.setTimeout(() => void renew(), delayMs);
  }

  /** Never rejects. */
  async function renew(): Promise<void> {
    let delayMs = retryMs;
    try {
      current = await authority.issueServing(names, lifetimeMs);
      for (const listener of listeners) listener(toUpdate(current));
      delayMs = renewalDelay();
    } catch (thrown) {
      log.warn(
        { err: messageOf(thrown) },
        "serving certificate was not renewed, it is tried again",
      );
    }
    if (!stopped) timer = schedule(delayMs);
  }

  return {
    // Never at once: grpc-js asks before it listens to what comes of it.
    addCaCertificateListener: (listener) => queueMicrotask(() => listener({ caCertificate })),
    removeCaCertificateListener: () => undefined,
    addIdentityCertificateListener(listener) {
      listeners.add(listener);
      queueMicrotask(() => listener(toUpdate(current)));
    },
    removeIdentityCertificateListener: (listener) => void listeners.delete(listener),
    stop() {
      stopped = true;
      timer.cancel();
    },
  };
}

function toUpdate(serving: ServingCertificate): experimental.IdentityCertificateUpdate {
  return {
    certificate: Buffer.from(serving.chainPem),
    privateKey: Buffer.from(serving.keyPem),
  };
}
