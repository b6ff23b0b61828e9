/** Requests polls of HelmOps from any replica, by an annotation that the leader handles once, also after a restart. */

import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { pollRequestAnnotation } from "@flotilla/shared/api/names";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { createCoalescer } from "./coalesce.ts";

/**
 * A release is often many pushes with a call for each; a HelmOp is annotated once in this time. Less than the 500 ms after which
 * distribution retries a call.
 */
const intervalMs = 400;
const parallelWrites = 16;

/** Resolves once all of them are annotated. */
export type RequestPolls = (helmOps: readonly HelmOp[]) => Promise<void>;

export function createPollRequests(deps: {
  readonly rest: KubeRest;
  readonly clock: Clock;
}): RequestPolls {
  const { rest, clock } = deps;
  const semaphore = createSemaphore(parallelWrites);
  /** Values to write: one for all HelmOps of a call, so that their polls share one answer. */
  const values = new Map<ObjectKey, string>();
  const annotate = createCoalescer({
    clock,
    intervalMs,
    run: (key) => semaphore.run(() => write(key)),
  });

  async function write(key: ObjectKey): Promise<void> {
    const value = values.get(key);
    if (value === undefined) return;
    values.delete(key);
    const body = { metadata: { annotations: { [pollRequestAnnotation]: value } } };
    try {
      await rest.patch(helmOps, refOf(key), { type: "merge", body });
    } catch (thrown) {
      if (isNotFound(thrown)) return;
      if (!values.has(key)) values.set(key, value);
      throw thrown;
    }
  }

  return async (requested) => {
    const value = formatTimeMs(clock.now());
    for (const helmOp of requested) values.set(keyOf(helmOp), value);
    await Promise.all(requested.map((helmOp) => annotate(keyOf(helmOp))));
  };
}
