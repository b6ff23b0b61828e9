/** Which deployments name what the hub supplies. */
import type { ObjectRef } from "@flotilla/proto/messages.ts";
import { formatObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import { referencedObjectsOf } from "@flotilla/shared/referenced/referenced-object.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";
import { readOnce } from "../assignment/read-once.ts";

export interface Namers {
  /** The names of the deployments that name it. */
  of(ref: ObjectRef): Promise<readonly string[]>;
  /** What a deployment names, by key. */
  namedBy(held: HeldAssignment): Promise<readonly string[]>;
}

export function createNamers(assignments: Pick<Assignments, "list">): Namers {
  const namedBy = readOnce<readonly string[]>(referencedObjectsOf, []);
  return {
    namedBy,
    async of(ref) {
      const key = formatObjectRef(ref);
      const named = await Promise.all(
        assignments.list().map(async (held) => ({ held, keys: await namedBy(held) })),
      );
      return named.flatMap(({ held, keys }) => (keys.includes(key) ? [held.owner.name] : []));
    },
  };
}
