/**
 * The certificate that the hub's port shows, and what it checks its callers' by: made anew before the one ends, and whenever
 * the authority is another. Connections that are open keep what they began with; only new ones get the newer.
 */

import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";
import type { experimental } from "@grpc/grpc-js";
import type { ServingCertificate } from "./certificate-authority.ts";
import type { LiveAuthority } from "./live-authority.ts";

export interface ServingIdentityOptions {
  readonly authority: Pick<LiveAuthority, "record" | "trusted" | "issueServing" | "onChange">;
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

interface Shown {
  readonly serving: ServingCertificate;
  /** The authority that it is from. */
  readonly signedBy: string;
}

const defaultLifetimeMs = 30 * 24 * 3_600_000;
const retryMs = 60_000;

export async function createServingIdentity(
  options: ServingIdentityOptions,
): Promise<ServingIdentity> {
  const { authority, names, clock, log, lifetimeMs = defaultLifetimeMs } = options;
  const listeners = new Set<experimental.IdentityCertificateUpdateListener>();
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  let trusted = authority.trusted.digest;
  let current = await issue();
  let stopped = false;
  let timer = schedule(renewalDelay());
  let work: Promise<void> = Promise.resolve();
  const stopListening = authority.onChange(() => {
    work = work.then(follow);
  });

  async function issue(): Promise<Shown> {
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

  /** The callers first: nobody must show a certificate of an authority that is not known here yet. Never rejects. */
  async function follow(): Promise<void> {
    if (trusted !== authority.trusted.digest) {
      trusted = authority.trusted.digest;
      for (const listener of caListeners) listener(caUpdate());
    }
    if (current.signedBy === authority.record.signing.certificatePem) return;
    await renew();
    log.info("the port shows a certificate of the new authority");
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
      log.warn(
        { err: messageOf(thrown) },
        "serving certificate was not renewed, it is tried again",
      );
    }
    if (!stopped) timer = schedule(delayMs);
  }

  function caUpdate(): experimental.CaCertificateUpdate {
    return { caCertificate: Buffer.from(authority.trusted.pem) };
  }

  return {
    // Never at once: grpc-js asks before it listens to what comes of it.
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
