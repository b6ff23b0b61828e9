/**
 * A certificate of this process, renewed before it expires and whenever the authority changes, and the authorities of those that
 * it talks to. Open connections keep their certificate; new ones get the newer.
 */
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import type { ServingCertificate } from "./certificate-authority.ts";
import type { LiveAuthority } from "./live-authority.ts";

export interface RenewedCertificateOptions {
  readonly authority: Pick<LiveAuthority, "record" | "trusted" | "onChange">;
  readonly issue: (lifetimeMs: number) => Promise<ServingCertificate>;
  /** For the log: `serving certificate`. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly lifetimeMs?: number;
}

export interface RenewedCertificate {
  readonly current: ServingCertificate;
  /** The trusted authorities, PEM. */
  readonly trustedPem: string;
  onRenewed(listener: () => void): void;
  onTrusted(listener: () => void): void;
  stop(): void;
}

interface Issued {
  readonly certificate: ServingCertificate;
  /** The certificate of its authority. */
  readonly signedBy: string;
}

const defaultLifetimeMs = 30 * 24 * 3_600_000;
const retryMs = 60_000;

export async function createRenewedCertificate(
  options: RenewedCertificateOptions,
): Promise<RenewedCertificate> {
  const { authority, name, clock, log, lifetimeMs = defaultLifetimeMs } = options;
  const renewedListeners = new Set<() => void>();
  const trustedListeners = new Set<() => void>();
  let trusted = authority.trusted.digest;
  let current = await issue();
  let stopped = false;
  let timer = schedule(renewalDelay());
  let work: Promise<void> = Promise.resolve();
  const stopListening = authority.onChange(() => {
    work = work.then(applyChange);
  });

  async function issue(): Promise<Issued> {
    const signedBy = authority.record.signing.certificatePem;
    return { certificate: await options.issue(lifetimeMs), signedBy };
  }

  function renewalDelay(): number {
    return Math.max(retryMs, ((current.certificate.notAfter - clock.now()) * 2) / 3);
  }

  function schedule(delayMs: number): Timer {
    return clock.setTimeout(() => {
      work = work.then(renew);
    }, delayMs);
  }

  /** Authorities first: nobody may present a certificate of an authority that is not trusted here yet. Never rejects. */
  async function applyChange(): Promise<void> {
    if (trusted !== authority.trusted.digest) {
      trusted = authority.trusted.digest;
      for (const listener of trustedListeners) listener();
    }
    if (current.signedBy === authority.record.signing.certificatePem) return;
    await renew();
    log.info(`${name} is signed by the new authority`);
  }

  /** Never rejects. */
  async function renew(): Promise<void> {
    timer.cancel();
    let delayMs = retryMs;
    try {
      current = await issue();
      for (const listener of renewedListeners) listener();
      delayMs = renewalDelay();
    } catch (thrown) {
      log.warn({ err: messageOf(thrown) }, `cannot renew the ${name}; retrying`);
    }
    if (!stopped) timer = schedule(delayMs);
  }

  return {
    get current() {
      return current.certificate;
    },
    get trustedPem() {
      return authority.trusted.pem;
    },
    onRenewed: (listener) => void renewedListeners.add(listener),
    onTrusted: (listener) => void trustedListeners.add(listener),
    stop() {
      stopped = true;
      stopListening();
      timer.cancel();
    },
  };
}
