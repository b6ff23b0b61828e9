/** Indexes of the contents of assignments. Each is unpacked once: an assignment object is replaced when it changes. */
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import type { Assignment } from "./assignment-secret.ts";
import type { ReleaseAssignment } from "./release-assignments.ts";

/** `fallback`: for a content that cannot be unpacked, which is reported where it is deployed. */
export function memoizeByContent<T>(
  read: (content: DeploymentContent) => T,
  fallback: T,
): (assignment: Assignment) => Promise<T> {
  const known = new WeakMap<Assignment, Promise<T>>();
  return (assignment) => {
    const { deploymentId, content: bytes } = assignment;
    const reading =
      known.get(assignment) ?? unpackContent({ deploymentId, bytes }).then(read, () => fallback);
    known.set(assignment, reading);
    return reading;
  };
}

export interface Referrers {
  /** The ids of the releases that refer to a key. */
  of(key: string): Promise<readonly string[]>;
  /** The keys that a release refers to. */
  keysOf(assignment: Assignment): Promise<readonly string[]>;
}

/** Finds the assigned releases, installed or not, that refer to a key. */
export function createReferrers(
  assigned: { readonly list: () => readonly ReleaseAssignment[] },
  keysIn: (content: DeploymentContent) => readonly string[],
): Referrers {
  const keysOf = memoizeByContent<readonly string[]>(keysIn, []);
  return {
    keysOf,
    async of(key) {
      const list = assigned.list();
      const keys = await Promise.all(list.map(keysOf));
      return list.flatMap(({ owner }, index) => (keys[index]?.includes(key) ? [owner.id] : []));
    },
  };
}
