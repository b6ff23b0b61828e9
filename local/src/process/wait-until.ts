/** Polls until something has started. For local starts and tests only; the product does not poll. */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";

const pollMs = 25;

export interface WaitOptions {
  /** For the message: `kube-apiserver of hub`. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Polls until `check` resolves to true. An error counts as not ready; the last one is in the message of the timeout. */
export async function waitUntil(
  check: () => Promise<boolean>,
  options: WaitOptions,
): Promise<void> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    let last = "not ready";
    try {
      if (await check()) return;
    } catch (thrown) {
      last = messageOf(thrown);
    }
    options.signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw new AppError(
        localErrors.PROCESS_FAILED,
        `wait for ${options.what}: not ready after ${Math.round(options.timeoutMs / 1000)} s: ${last}`,
      );
    }
    await sleep(pollMs, undefined, {
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }
}
