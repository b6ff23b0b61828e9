/**
 * Which deployments have something copied into a namespace. By what is assigned, and not by what was done since the agent
 * began: a deployment that is paused, or waits, has its copies all the same.
 */
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content/content.ts";
import type { SupplyRef } from "@flotilla/shared/supply/supply.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";

/** The names of those that are not being withdrawn. */
export type CopyWanters = (ref: SupplyRef, namespace: string) => Promise<ReadonlySet<string>>;

type Wanted = Pick<DeploymentContent, "namespace" | "copies">;

export function createCopyWanters(assignments: Pick<Assignments, "list">): CopyWanters {
  /** Each content is opened once; what is held is replaced when it changes. */
  const known = new WeakMap<HeldAssignment, Promise<Wanted>>();

  function wantedBy(held: HeldAssignment): Promise<Wanted> {
    const wanted = known.get(held) ?? readWanted(held);
    known.set(held, wanted);
    return wanted;
  }

  return async ({ kind, name }, namespace) => {
    const held = assignments.list().filter(({ withdrawing }) => !withdrawing);
    const wanted = await Promise.all(held.map(wantedBy));
    return new Set(
      held.flatMap(({ owner }, index) => {
        const { namespace: own, copies = [] } = wanted[index] ?? { namespace: "" };
        const isWanted = copies.some((copy) => copy.kind === kind && copy.name === name);
        return own === namespace && isWanted ? [owner.name] : [];
      }),
    );
  };
}

async function readWanted({ deploymentId, content }: HeldAssignment): Promise<Wanted> {
  return await unpackContent({ deploymentId, bytes: content }).then(
    ({ namespace, copies }) => ({ namespace, copies }),
    // One that cannot be opened says so itself.
    () => ({ namespace: "" }),
  );
}
