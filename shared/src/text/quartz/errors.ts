/** The error of expressions and time zones that cannot be used. */
import { AppError, defineErrors } from "../../runtime/errors/index.ts";

export const quartzErrors = defineErrors({
  SCHEDULE_INVALID: {
    retryable: false,
    help: 'A schedule cannot be used: its expression, its time zone or its duration. The message says which field is wrong and what it may be. An expression has the fields second, minute, hour, day of month, month, day of week and, if wanted, year, as in "0 0 22 ? * MON-FRI"; days of the week are 1 for Sunday to 7 for Saturday.',
  },
});

/** An error that says what is wrong with a schedule. */
export function scheduleInvalid(problem: string): AppError {
  return new AppError(quartzErrors.SCHEDULE_INVALID, problem);
}

const longestQuote = 60;

/** A text of a user within a message, shortened. */
export function quote(text: string): string {
  return JSON.stringify(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);
}
