/**
 * Has HelmOps polled at once, whichever replica is asked: by an annotation, which the leader handles once, also after a
 * restart.
 */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { pollRequestAnnotation } from "@flotilla/shared/api/names.ts";
import { helmOps } from "@flotilla/shared/api/resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isNotFound } from "@flotilla/shared/kube/client/status-error.ts";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import pLimit from "p-limit";
import { createCoalescer } from "./coalesce.ts";

/**
 * Registries tell of each push, and a release is often many; a HelmOp is marked once in this time. Less than the half second
 * after which distribution takes a call for failed.
 */
const restMs = 400;
const parallelWrites = 16;

/** Resolves once all of them are marked. */
export type RequestPolls = (wanted: readonly HelmOp[]) => Promise<void>;

export function createPollRequests(deps: {
  readonly rest: KubeRest;
  readonly clock: Clock;
}): RequestPolls {
  const { rest, clock } = deps;
  const limit = pLimit(parallelWrites);
  /** What is to be written: one value for all HelmOps of a call, so that they share what their poll gets. */
  const values = new Map<ObjectKey, string>();
  const mark = createCoalescer({
    clock,
    restMs,
    run: (key) => limit(() => write(key)),
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

  return async (wanted) => {
    const value = new Date(clock.now()).toISOString();
    for (const helmOp of wanted) values.set(keyOf(helmOp), value);
    await Promise.all(wanted.map((helmOp) => mark(keyOf(helmOp))));
  };
}
