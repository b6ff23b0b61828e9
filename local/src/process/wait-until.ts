/** Waits for a part that comes up. Looks again after a few milliseconds: this is a start, not a path of the product. */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";

const pollMs = 25;

export interface WaitOptions {
  /** For the message: `kube-apiserver of hub`. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Asks until the answer is `true`. A thrown error counts as "not yet" and is part of the message in the end. */
export async function waitUntil(
  question: () => Promise<boolean>,
  options: WaitOptions,
): Promise<void> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    let last = "it answers, but is not ready";
    try {
      if (await question()) return;
    } catch (thrown) {
      last = messageOf(thrown);
    }
    options.signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw new AppError(
        localErrors.PROCESS_FAILED,
        `${options.what} is not ready after ${Math.round(options.timeoutMs / 1000)} s: ${last}`,
      );
    }
    await sleep(pollMs, undefined, {
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }
}
