/** Requests reconciles of objects from any replica, by an annotation that their controllers handle once, also after a restart. */
import { createSemaphore } from "@flotilla/shared/concurrency";
import { isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import { refOf } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { createCoalescer } from "./coalesce.ts";
import type { Target } from "./targets.ts";

/**
 * A release is often many pushes with a call for each; an object is annotated once in this time. Less than the 500 ms after which
 * distribution retries a call.
 */
const intervalMs = 400;
const parallelWrites = 16;

/** Resolves once all of them are annotated. An object that does not exist is not an error. */
export type RequestReconciles = (objects: readonly Target[]) => Promise<void>;

/** `annotation`: gets the time of the call, RFC 3339 with milliseconds. */
export function createReconcileRequests(deps: {
  readonly rest: Pick<KubeRest, "patch">;
  readonly clock: Clock;
  readonly annotation: string;
}): RequestReconciles {
  const { rest, clock, annotation } = deps;
  const semaphore = createSemaphore(parallelWrites);
  /** What to write: one value for all objects of a call, so that their polls share one answer. */
  const pending = new Map<string, { readonly object: Target; readonly value: string }>();
  const annotate = createCoalescer({
    clock,
    intervalMs,
    run: (id) => semaphore.run(() => write(id)),
  });

  async function write(id: string): Promise<void> {
    const request = pending.get(id);
    if (request === undefined) return;
    pending.delete(id);
    const { object, value } = request;
    const body = { metadata: { annotations: { [annotation]: value } } };
    try {
      await rest.patch(object.resource, refOf(object.key), { type: "merge", body });
    } catch (thrown) {
      if (isNotFound(thrown)) return;
      if (!pending.has(id)) pending.set(id, request);
      throw thrown;
    }
  }

  return async (objects) => {
    const value = formatTimeMs(clock.now());
    const requested = objects.map((object) => ({ object, id: idOf(object) }));
    for (const { object, id } of requested) pending.set(id, { object, value });
    await Promise.all(requested.map(({ id }) => annotate(id)));
  };
}

function idOf({ resource: { group, plural }, key }: Target): string {
  return `${plural}.${group} ${key}`;
}
