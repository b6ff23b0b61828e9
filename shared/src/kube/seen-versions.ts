/**
 * Which versions of objects a watch has delivered lately. A write of ours may be answered after the watch has told of
 * it; then it is old news, and must not be taken for something newer than what the watch delivers.
 *
 * Bounded by object, not over all: between a write and its answer one object changes a few times, the others may
 * change thousands of times.
 */
import type { ObjectKey } from "./object.ts";

export interface SeenVersions {
  add(key: ObjectKey, uid: string | undefined, resourceVersion: string | undefined): void;
  /** The object with this uid is gone, whatever versions of it turn up in answers to writes. */
  addGone(key: ObjectKey, uid: string | undefined): void;
  has(key: ObjectKey, uid: string | undefined, resourceVersion: string | undefined): boolean;
}

const versionsKept = 8;
const goneKept = 4096;

export function createSeenVersions(): SeenVersions {
  const versions = new Map<ObjectKey, string[]>();
  const gone = new Set<string>();

  return {
    add(key, uid, resourceVersion) {
      // It may come back where a selector decides what is watched.
      if (uid !== undefined) gone.delete(uid);
      if (resourceVersion === undefined) return;
      const known = versions.get(key);
      if (known === undefined) versions.set(key, [resourceVersion]);
      else {
        known.push(resourceVersion);
        if (known.length > versionsKept) known.shift();
      }
    },
    addGone(key, uid) {
      versions.delete(key);
      if (uid === undefined) return;
      gone.add(uid);
      if (gone.size <= goneKept) return;
      const [oldest] = gone;
      if (oldest !== undefined) gone.delete(oldest);
    },
    has(key, uid, resourceVersion) {
      if (uid !== undefined && gone.has(uid)) return true;
      return (
        resourceVersion !== undefined && (versions.get(key)?.includes(resourceVersion) ?? false)
      );
    },
  };
}
