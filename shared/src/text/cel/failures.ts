/** What ends an evaluation. */

/** The expression has no value for these variables: a field is missing, types do not fit. `&&`, `||`, `all` and `exists` may recover. */
export class EvaluationFailure extends Error {}

/** A limit of the evaluation is exceeded; nothing recovers from that. */
export class BudgetExceeded extends Error {
  readonly limit: "steps" | "time";

  constructor(limit: "steps" | "time", message: string) {
    super(message);
    this.limit = limit;
  }
}

/** The source is not an expression that can be evaluated. `offset`: in the source. */
export class InvalidExpression extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export function noOverload(operation: string, ...kinds: readonly string[]): EvaluationFailure {
  return new EvaluationFailure(`${operation} is not defined for ${kinds.join(" and ")}`);
}
