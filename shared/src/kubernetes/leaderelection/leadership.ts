/** One term of leadership, as seen by the work of the leader. */

export interface Leadership {
  /** Aborts when the work has to end: the leadership is lost, or is about to be released. */
  readonly signal: AbortSignal;
  /** Aborts when the leadership is lost: nothing may go on. */
  readonly lost: AbortSignal;
  /** True until it is lost or released, so also while the work ends. */
  readonly isLeading: boolean;
  /** Throws LEADERSHIP_LOST after the renew deadline. */
  assertLeading(): void;
  /**
   * To be awaited before every write. When the watch of the Lease has failed, it waits until the Lease is renewed: the API
   * server may have been restored from a backup, and the caches may be of both histories. Throws LEADERSHIP_LOST; while the
   * work ends it does so instead of waiting.
   */
  confirmLeading(): Promise<void>;
  /** How long until another replica may lead at the earliest: writes have to end by then. */
  remainingMs(): number;
}

export interface LeaseTimes {
  /** From the last renewal until others may acquire the Lease. */
  readonly leaseDurationMs: number;
  readonly renewIntervalMs: number;
  /** From the last renewal until the leader steps down by itself. */
  readonly renewDeadlineMs: number;
}
