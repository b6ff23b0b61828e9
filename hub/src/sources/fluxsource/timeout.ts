/** The time that one attempt at a source may take. */
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { parseGoDuration } from "@flotilla/shared/time";
import { SourceError } from "./source-error.ts";

/** Flux's default. */
const defaultTimeout = "60s";

/** Runs `work` with a signal that also aborts after `spec.timeout`. Throws a SourceError after that time. */
export async function timeoutOf<T>(
  timeout: string | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const text = timeout ?? defaultTimeout;
  const limit = AbortSignal.timeout(parseGoDuration(text) ?? 60_000);
  try {
    return await work(AbortSignal.any([signal, limit]));
  } catch (thrown) {
    if (!limit.aborted || signal.aborted) throw thrown;
    throw new SourceError(fluxReason.failed, `no complete answer after spec.timeout, ${text}`, {
      cause: thrown,
    });
  }
}
