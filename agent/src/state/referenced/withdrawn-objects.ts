/**
 * Referenced objects that the hub has withdrawn but that a deployment of this cluster still references: the deployment was
 * lost on the hub, or its new content has not arrived yet. Such an object stays until no deployment references it.
 */
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import type { Log } from "@flotilla/shared/log";
import type { Referrers } from "../assignment/content-index.ts";
import type { ReferencedObjects } from "./referenced-objects.ts";

export interface WithdrawnObjects {
  /** Removes an object, at once or as soon as no deployment references it. */
  withdraw(ref: ObjectRef): Promise<void>;
  /** The hub has sent it again. */
  cancel(ref: ObjectRef): void;
  /** Must be called when a deployment is removed, or references something else. */
  removeUnreferenced(): Promise<void>;
}

export interface WithdrawnObjectsDeps {
  readonly referenced: Pick<ReferencedObjects, "remove">;
  readonly referrers: Pick<Referrers, "of">;
  readonly log: Log;
}

export function createWithdrawnObjects(deps: WithdrawnObjectsDeps): WithdrawnObjects {
  const { referenced, referrers, log } = deps;
  const pending = new Map<string, ObjectRef>();

  async function withdraw(ref: ObjectRef): Promise<void> {
    const key = formatObjectRef(ref);
    pending.set(key, ref);
    const [referrer] = await referrers.of(key);
    // The hub may have sent it again meanwhile.
    if (!pending.has(key)) return;
    if (referrer !== undefined) {
      log.info(
        { object: key, deployment: referrer },
        "withdrawn object is still referenced by a deployment, keeping it",
      );
      return;
    }
    pending.delete(key);
    await referenced.remove(ref);
  }

  return {
    withdraw,
    cancel: (ref) => void pending.delete(formatObjectRef(ref)),
    async removeUnreferenced() {
      for (const ref of [...pending.values()]) await withdraw(ref);
    },
  };
}
