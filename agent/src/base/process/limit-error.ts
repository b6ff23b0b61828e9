/** A process that exceeded a limit. Its chart or its values are the cause, so they are retried later than other failures. */
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../errors/agent-errors.ts";

export class LimitError extends AppError {
  /** When the next attempt is made, ms since 1970. */
  readonly retryAtMs: number;

  constructor(message: string, retryAtMs: number) {
    super(agentErrors.LIMIT_EXCEEDED, message);
    this.retryAtMs = retryAtMs;
  }
}
