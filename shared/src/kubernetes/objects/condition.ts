/** A condition of a status, with Fleet's additional time. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One word for programs. */
  readonly reason?: string | undefined;
  /** For people. */
  readonly message?: string | undefined;
  /** The `metadata.generation` that it is for. */
  readonly observedGeneration?: number | undefined;
  /** When `status` changed last, RFC 3339. */
  readonly lastTransitionTime?: string | undefined;
  /** When any field changed last, RFC 3339. */
  readonly lastUpdateTime?: string | undefined;
}
