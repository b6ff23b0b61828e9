/** What a reconcile says when it ended without an error. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "requeue"; readonly afterMs: number; readonly why: string };

const doneOutcome: Outcome = { kind: "done" };

/** Nothing more to do until something changes. */
export function done(): Outcome {
  return doneOutcome;
}

/** Look again after a time, whatever happens until then. `why` is for the log. */
export function requeueAfter(afterMs: number, why: string): Outcome {
  return { kind: "requeue", afterMs, why };
}
