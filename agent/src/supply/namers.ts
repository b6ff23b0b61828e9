/** Which deployments name what the hub supplies. Contents are opened for it once each. */
import type { SupplyRef } from "@flotilla/proto/messages.ts";
import { unpackContent } from "@flotilla/shared/content/content.ts";
import { suppliesOf } from "@flotilla/shared/supply/supplies-of.ts";
import { supplyKey } from "@flotilla/shared/supply/supply.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";

export interface Namers {
  /** The names of the deployments that name it. */
  of(ref: SupplyRef): Promise<readonly string[]>;
  /** What a deployment names, by key. Nothing for a content that cannot be read: that is told where it is carried out. */
  namedBy(held: HeldAssignment): Promise<readonly string[]>;
}

export function createNamers(assignments: Pick<Assignments, "list">): Namers {
  const known = new WeakMap<HeldAssignment, Promise<readonly string[]>>();

  function namedBy(held: HeldAssignment): Promise<readonly string[]> {
    const remembered = known.get(held);
    if (remembered !== undefined) return remembered;
    const reading = unpackContent({ deploymentId: held.deploymentId, bytes: held.content }).then(
      suppliesOf,
      () => [],
    );
    known.set(held, reading);
    return reading;
  }

  return {
    namedBy,
    async of(ref) {
      const key = supplyKey(ref);
      const named = await Promise.all(
        assignments.list().map(async (held) => ({ held, keys: await namedBy(held) })),
      );
      return named.flatMap(({ held, keys }) => (keys.includes(key) ? [held.owner.name] : []));
    },
  };
}
