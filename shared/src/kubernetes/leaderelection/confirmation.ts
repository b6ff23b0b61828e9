/**
 * Whether a Lease was renewed since its watch has failed: a renewal confirms it only if it started after the last failure, as the
 * server may have been restored from a backup in between.
 */
export class Confirmation {
  #isConfirmed = true;
  #invalidations = 0;
  /** Resolves when it is confirmed, and when nobody is to wait any more. */
  #settled = Promise.withResolvers<void>();

  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** From now on it is unconfirmed, until a renewal that starts later has succeeded. */
  invalidate(): void {
    this.#invalidations += 1;
    if (this.#isConfirmed) this.#settled = Promise.withResolvers();
    this.#isConfirmed = false;
  }

  /** A renewal starts; the result is to be called when it has succeeded. */
  startRenewal(): () => void {
    const before = this.#invalidations;
    return () => {
      if (this.#invalidations !== before) return;
      this.#isConfirmed = true;
      this.#settled.resolve();
    };
  }

  /** Resolves when it is confirmed, or when `stopWaiting` is called, also before: look at `isConfirmed` then. Never rejects. */
  async wait(): Promise<void> {
    if (!this.#isConfirmed) await this.#settled.promise;
  }

  /** Those that wait continue, without a confirmation. */
  stopWaiting(): void {
    this.#settled.resolve();
  }
}
