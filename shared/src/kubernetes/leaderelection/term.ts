/**
 * One term of leadership, as seen by the code that renews the Lease. By the monotonic clock alone: a process that was frozen finds
 * that its deadline has passed when it continues, before it has received anything.
 */
import { AppError } from "../../runtime/errors/index.ts";
import type { Clock, Timer } from "../../runtime/time/index.ts";
import { kubeErrors } from "../client/index.ts";
import { Confirmation } from "./confirmation.ts";
import type { Leadership, LeaseTimes } from "./leadership.ts";

export interface TermOptions {
  /** What makes it the leader, for messages: `lease NAMESPACE/NAME`. */
  readonly what: string;
  readonly times: LeaseTimes;
  readonly clock: Clock;
  /** On the monotonic clock. */
  readonly acquiredAt: number;
}

/** Its owner must end it: until then it has a timer. */
export class Term implements Leadership {
  readonly #options: TermOptions;
  readonly #work = new AbortController();
  readonly #lost = new AbortController();
  readonly #confirmation = new Confirmation();
  #renewedAt: number;
  #isEnded = false;
  #timer: Timer;

  constructor(options: TermOptions) {
    this.#options = options;
    this.#renewedAt = options.acquiredAt;
    this.#timer = this.#schedule(options.times.renewDeadlineMs);
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isLeading(): boolean {
    return !this.#isEnded && this.deadlineMs() > 0;
  }

  assertLeading(): void {
    if (this.isLeading) return;
    throw this.#notLeading(this.#isEnded ? "it is no longer the leader" : this.#notRenewed);
  }

  async confirmLeading(): Promise<void> {
    this.assertLeading();
    if (this.isConfirmed) return;
    if (!this.signal.aborted) await this.#confirmation.wait();
    this.assertLeading();
    this.#assertConfirmed();
  }

  remainingMs(): number {
    const { times, clock } = this.#options;
    return this.#renewedAt + times.leaseDurationMs - clock.monotonic();
  }

  /** How long until the leader must stop. */
  deadlineMs(): number {
    const { times, clock } = this.#options;
    return this.#renewedAt + times.renewDeadlineMs - clock.monotonic();
  }

  /** A renewal starts; the result is to be called when it has succeeded. The term then counts from its start. */
  startRenewal(): () => void {
    const startedAt = this.#options.clock.monotonic();
    const confirm = this.#confirmation.startRenewal();
    return () => {
      this.#renewedAt = Math.max(this.#renewedAt, startedAt);
      confirm();
    };
  }

  /** From now on writes wait until a renewal that starts later has succeeded. */
  invalidate(): void {
    this.#confirmation.invalidate();
  }

  /** False while writes wait. */
  get isConfirmed(): boolean {
    return this.#confirmation.isConfirmed;
  }

  /** Ends the work; the leadership continues, so the work may still write while it ends. */
  stopWork(): void {
    this.#work.abort();
    this.#confirmation.stopWaiting();
  }

  /** Ends the term and aborts `signal` and `lost` with LEADERSHIP_LOST. Nothing happens once it has ended. */
  lose(why: string): void {
    if (this.#isEnded) return;
    this.end();
    const error = new AppError(kubeErrors.LEADERSHIP_LOST, `lead by ${this.#options.what}: ${why}`);
    this.#lost.abort(error);
    this.#work.abort(error);
  }

  /** To be called when the Lease is to be released: writes are rejected from then on. Aborts nothing. */
  end(): void {
    this.#isEnded = true;
    this.#timer.cancel();
    this.#confirmation.stopWaiting();
  }

  #schedule(delayMs: number): Timer {
    return this.#options.clock.setTimeout(() => this.#watchDeadline(), delayMs);
  }

  #watchDeadline(): void {
    const leftMs = this.deadlineMs();
    if (leftMs > 0) this.#timer = this.#schedule(leftMs);
    else this.lose(this.#notRenewed);
  }

  #assertConfirmed(): void {
    if (this.isConfirmed) return;
    throw this.#notLeading("the watch of the lease has failed, and it is not renewed since");
  }

  get #notRenewed(): string {
    return `the lease was not renewed for ${this.#options.times.renewDeadlineMs / 1000} s`;
  }

  #notLeading(why: string): AppError {
    const message = `write as the leader by ${this.#options.what}: ${why}`;
    return new AppError(kubeErrors.LEADERSHIP_LOST, message);
  }
}
