/** Writes of ours that the watch has not delivered yet: which of the two is later. Pure. */
import { isLaterVersion, type KubeObject } from "../objects/index.ts";

export interface PendingWrite<T> {
  readonly uid: string | undefined;
  /** Absent when the write removed the object: the API server responds with the version before it. */
  readonly version: string | undefined;
  /** What the watch delivered last. */
  watched: T | undefined;
}

/** Whether the write is later than the object that the watch delivers. */
export function isAhead(
  { uid, version }: PendingWrite<unknown>,
  { metadata }: KubeObject,
): boolean {
  return version === undefined
    ? uid === metadata.uid
    : isLaterVersion(version, metadata.resourceVersion);
}

/** Whether a delivered deletion ends the write. A write to a new object of the same name outlives it. */
export function isSettledByDeletion(
  { uid, version }: PendingWrite<unknown>,
  { metadata }: KubeObject,
): boolean {
  return version === undefined
    ? uid === metadata.uid
    : !isLaterVersion(version, metadata.resourceVersion);
}

/** Whether a write whose response arrived during a list is later than the list. */
export function isLaterThanList(
  { uid, version }: PendingWrite<unknown>,
  listed: KubeObject | undefined,
  listVersion: string,
): boolean {
  return version === undefined
    ? listed !== undefined && uid === listed.metadata.uid
    : isLaterVersion(version, listVersion);
}

/**
 * The response to a write that removed the last finalizer of an object that was being deleted: it does not exist any
 * more.
 */
export function isGone(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && !isDeletedLater(object);
}

/** Pods are deleted after a grace period, and namespaces once they are empty, without finalizers in their metadata. */
function isDeletedLater({ metadata, ...object }: KubeObject): boolean {
  const graceSeconds: unknown = Reflect.get(metadata, "deletionGracePeriodSeconds");
  const spec: unknown = Reflect.get(object, "spec");
  const finalizers: unknown =
    typeof spec === "object" && spec !== null ? Reflect.get(spec, "finalizers") : undefined;
  return (
    (typeof graceSeconds === "number" && graceSeconds > 0) ||
    (Array.isArray(finalizers) && finalizers.length > 0)
  );
}
