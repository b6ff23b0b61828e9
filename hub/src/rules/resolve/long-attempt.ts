/** What messages say of the next attempt: when it is made, or since when it runs if it takes long. */
import { type Clock, formatTime } from "@flotilla/shared/time";

/** Most attempts take less: a status for each would be a second write. */
export const longAttemptMs = 5_000;

/** Calls `onLong` once, with the start of the attempt in ms since 1970, if it takes `longAttemptMs`; never after it has ended. */
export async function watchAttempt<T>(
  clock: Pick<Clock, "now" | "setTimeout">,
  attempt: () => Promise<T>,
  onLong: (startedAtMs: number) => void,
): Promise<T> {
  const startedAtMs = clock.now();
  const timer = clock.setTimeout(() => onLong(startedAtMs), longAttemptMs);
  try {
    return await attempt();
  } finally {
    timer.cancel();
  }
}

export interface NextAttempt {
  /** RFC 3339; undefined: none is made before something changes. */
  readonly retryAt?: string | undefined;
  /** ms since 1970: the start of the attempt that runs. */
  readonly startedAtMs?: number | undefined;
}

/** A failure, and what happens next: `connection refused; retrying at 2026-01-01T00:00:07Z`. */
export function failureText(error: string, { retryAt, startedAtMs }: NextAttempt): string {
  if (startedAtMs !== undefined) return `${error}; trying again since ${formatTime(startedAtMs)}`;
  return retryAt === undefined ? error : `${error}; retrying at ${formatTime(Date.parse(retryAt))}`;
}
