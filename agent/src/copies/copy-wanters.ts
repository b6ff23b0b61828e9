/**
 * Which deployments have something copied into a namespace. By what is assigned, and not by what was done since the agent
 * began: a deployment that is paused, or waits, has its copies all the same.
 */
import { formatObjectRef, type ObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Assignments } from "../assignment/assignments.ts";
import { readOnce } from "../assignment/read-once.ts";

/** The names of those that are not being withdrawn. */
export type CopyWanters = (ref: ObjectRef, namespace: string) => Promise<ReadonlySet<string>>;

export function createCopyWanters(assignments: Pick<Assignments, "list">): CopyWanters {
  /** The keys of what each has copied, with the namespace. */
  const wantedBy = readOnce<readonly string[]>(
    ({ namespace, copies = [] }) => copies.map((ref) => keyOf(ref, namespace)),
    [],
  );
  return async (ref, namespace) => {
    const key = keyOf(ref, namespace);
    const held = assignments.list().filter(({ withdrawing }) => !withdrawing);
    const wanted = await Promise.all(held.map(wantedBy));
    return new Set(
      held.flatMap(({ owner }, index) => (wanted[index]?.includes(key) ? [owner.name] : [])),
    );
  };
}

function keyOf(ref: ObjectRef, namespace: string): string {
  return `${namespace}/${formatObjectRef(ref)}`;
}
