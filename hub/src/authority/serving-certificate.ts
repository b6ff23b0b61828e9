/**
 * The serving certificate of the hub's port, and the authorities for client certificates. Renewed before it expires and whenever
 * the authority changes. Open connections keep their certificate; new ones get the newer.
 */

import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import type { experimental } from "@grpc/grpc-js";
import type { ServingCertificate } from "./certificate-authority.ts";
import type { LiveAuthority } from "./live-authority.ts";

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

interface IssuedServing {
  readonly serving: ServingCertificate;
  /** The certificate of its authority. */
  readonly signedBy: string;
}

const defaultLifetimeMs = 30 * 24 * 3_600_000;
const retryMs = 60_000;

export async function createServingCertificates(
  options: ServingCertificatesOptions,
): Promise<ServingCertificates> {
  const { authority, names, clock, log, lifetimeMs = defaultLifetimeMs } = options;
  const listeners = new Set<experimental.IdentityCertificateUpdateListener>();
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  let trusted = authority.trusted.digest;
  let current = await issue();
  let stopped = false;
  let timer = schedule(renewalDelay());
  let work: Promise<void> = Promise.resolve();
  const stopListening = authority.onChange(() => {
    work = work.then(applyChange);
  });

  async function issue(): Promise<IssuedServing> {
    const signedBy = authority.record.signing.certificatePem;
    return { serving: await authority.issueServing(names, lifetimeMs), signedBy };
  }

  function renewalDelay(): number {
    return Math.max(retryMs, ((current.serving.notAfter - clock.now()) * 2) / 3);
  }

  function schedule(delayMs: number): Timer {
    return clock.setTimeout(() => {
      work = work.then(renew);
    }, delayMs);
  }

  /** Client authorities first: no agent may present a certificate of an authority that is not trusted here yet. Never rejects. */
  async function applyChange(): Promise<void> {
    if (trusted !== authority.trusted.digest) {
      trusted = authority.trusted.digest;
      for (const listener of caListeners) listener(caUpdate());
    }
    if (current.signedBy === authority.record.signing.certificatePem) return;
    await renew();
    log.info("serving certificate is signed by the new authority");
  }

  /** Never rejects. */
  async function renew(): Promise<void> {
    timer.cancel();
    let delayMs = retryMs;
    try {
      current = await issue();
      for (const listener of listeners) listener(toUpdate(current.serving));
      delayMs = renewalDelay();
    } catch (thrown) {
      log.warn({ err: messageOf(thrown) }, "cannot renew the serving certificate; retrying");
    }
    if (!stopped) timer = schedule(delayMs);
  }

  function caUpdate(): experimental.CaCertificateUpdate {
    return { caCertificate: Buffer.from(authority.trusted.pem) };
  }

  return {
    // Asynchronously: grpc-js adds the listener before it handles updates.
    addCaCertificateListener(listener) {
      caListeners.add(listener);
      queueMicrotask(() => listener(caUpdate()));
    },
    removeCaCertificateListener: (listener) => void caListeners.delete(listener),
    addIdentityCertificateListener(listener) {
      listeners.add(listener);
      queueMicrotask(() => listener(toUpdate(current.serving)));
    },
    removeIdentityCertificateListener: (listener) => void listeners.delete(listener),
    stop() {
      stopped = true;
      stopListening();
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
