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

interface Issued {
  readonly certificate: ServingCertificate;
  /** The certificate of its authority. */
  readonly signedBy: string;
}

const defaultLifetimeMs = 30 * 24 * 3_600_000;
const retryMs = 60_000;

export class RenewedCertificate {
  readonly #options: RenewedCertificateOptions;
  readonly #renewedListeners = new Set<() => void>();
  readonly #trustedListeners = new Set<() => void>();
  readonly #stopListening: () => void;
  #trustedDigest: string;
  #issued: Issued;
  #timer: Timer;
  #isStopped = false;
  /** Renewals and changes, one after another. */
  #work: Promise<void> = Promise.resolve();

  /** Rejects when the first certificate cannot be issued; later ones are retried. The owner must stop it. */
  static async issue(options: RenewedCertificateOptions): Promise<RenewedCertificate> {
    const trustedDigest = options.authority.trusted.digest;
    return new RenewedCertificate(options, trustedDigest, await issue(options));
  }

  private constructor(options: RenewedCertificateOptions, trustedDigest: string, issued: Issued) {
    this.#options = options;
    this.#trustedDigest = trustedDigest;
    this.#issued = issued;
    this.#timer = this.#schedule(this.#renewalDelayMs);
    this.#stopListening = options.authority.onChange(() => {
      this.#work = this.#work.then(() => this.#applyChange());
    });
  }

  /** While it cannot be renewed it is the earlier one, which expires in the end. */
  get current(): ServingCertificate {
    return this.#issued.certificate;
  }

  /** The trusted authorities, PEM. */
  get trustedPem(): string {
    return this.#options.authority.trusted.pem;
  }

  onRenewed(listener: () => void): void {
    this.#renewedListeners.add(listener);
  }

  onTrusted(listener: () => void): void {
    this.#trustedListeners.add(listener);
  }

  /** It is not renewed any more; `current` stays. */
  stop(): void {
    this.#isStopped = true;
    this.#stopListening();
    this.#timer.cancel();
  }

  get #renewalDelayMs(): number {
    const leftMs = this.#issued.certificate.notAfter - this.#options.clock.now();
    return Math.max(retryMs, (leftMs * 2) / 3);
  }

  #schedule(delayMs: number): Timer {
    return this.#options.clock.setTimeout(() => {
      this.#work = this.#work.then(() => this.#renew());
    }, delayMs);
  }

  /** Authorities first: nobody may present a certificate of an authority that is not trusted here yet. Never rejects. */
  async #applyChange(): Promise<void> {
    const { authority, log, name } = this.#options;
    if (this.#trustedDigest !== authority.trusted.digest) {
      this.#trustedDigest = authority.trusted.digest;
      for (const listener of this.#trustedListeners) listener();
    }
    if (this.#issued.signedBy === authority.record.signing.certificatePem) return;
    await this.#renew();
    log.info(`${name} is signed by the new authority`);
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const { log, name } = this.#options;
    this.#timer.cancel();
    let delayMs = retryMs;
    try {
      this.#issued = await issue(this.#options);
      for (const listener of this.#renewedListeners) listener();
      delayMs = this.#renewalDelayMs;
    } catch (thrown) {
      log.warn({ err: messageOf(thrown) }, `cannot renew the ${name}; retrying`);
    }
    if (!this.#isStopped) this.#timer = this.#schedule(delayMs);
  }
}

async function issue({
  authority,
  issue: sign,
  lifetimeMs = defaultLifetimeMs,
}: RenewedCertificateOptions): Promise<Issued> {
  const signedBy = authority.record.signing.certificatePem;
  return { certificate: await sign(lifetimeMs), signedBy };
}
