/**
 * Results of the agent's own Helm runs that the watch has not delivered yet, so that they take effect at once, like the
 * expectations of Kubernetes' controllers do.
 */
import type { Clock, Timer } from "@flotilla/shared/time";
import { isLocked, type ReleaseKey, type ReleaseRecord } from "./release-record.ts";

export interface ExpectedRecords {
  /** The record that Helm has written for a release. */
  get(release: ReleaseKey): ReleaseRecord | undefined;
  add(record: ReleaseRecord): void;
  drop(release: ReleaseKey): void;
  /** The release was uninstalled together with the Secrets of these UIDs. */
  addRemoved(release: ReleaseKey, uids: readonly string[]): void;
  isRemoved(release: ReleaseKey, uid: string): boolean;
  /** The watch has delivered a record, or its deletion. `left`: the UIDs of the release's Secrets in the cache. */
  observe(record: ReleaseRecord, isDeleted: boolean, left: readonly string[]): void;
  /** Cancels all timers. */
  clear(): void;
}

export interface ExpectedRecordsDeps {
  /** Whether the Secret of a record exists. */
  readonly exists: (record: ReleaseRecord) => Promise<boolean>;
  /** Called when an expected record turns out to be deleted. */
  readonly onMissing: (record: ReleaseRecord) => void;
  readonly clock: Clock;
}

/** The watch delivers a record within milliseconds; after this long the agent reads it. */
const verifyAfterMs = 2_000;

export function createExpectedRecords(deps: ExpectedRecordsDeps): ExpectedRecords {
  const expected = new Map<string, { readonly record: ReleaseRecord; readonly timer: Timer }>();
  /** UIDs of the Secrets of an uninstalled release, until the watch has delivered the deletion of all. */
  const removed = new Map<string, ReadonlySet<string>>();

  function drop(release: ReleaseKey): void {
    const key = keyOf(release);
    expected.get(key)?.timer.cancel();
    expected.delete(key);
  }

  function add(record: ReleaseRecord): void {
    drop(record);
    const timer = deps.clock.setTimeout(() => void verify(record), verifyAfterMs);
    expected.set(keyOf(record), { record, timer });
  }

  /** If the Secret was deleted before Helm's process ended, the watch delivers no further event. */
  async function verify(record: ReleaseRecord): Promise<void> {
    const exists = await deps.exists(record).catch(() => true);
    if (expected.get(keyOf(record))?.record !== record) return;
    if (exists) add(record);
    else {
      drop(record);
      deps.onMissing(record);
    }
  }

  return {
    get: (release) => expected.get(keyOf(release))?.record,
    add,
    drop,
    addRemoved(release, uids) {
      drop(release);
      if (uids.length > 0) removed.set(keyOf(release), new Set(uids));
    },
    isRemoved: (release, uid) => removed.get(keyOf(release))?.has(uid) === true,
    observe(record, isDeleted, left) {
      const key = keyOf(record);
      const removedUids = removed.get(key);
      if (removedUids !== undefined && !left.some((uid) => removedUids.has(uid)))
        removed.delete(key);
      const own = expected.get(key)?.record;
      // A deletion takes effect with any status.
      const isFinal = isDeleted || !isLocked(record);
      if (own !== undefined && record.revision >= own.revision && isFinal) drop(record);
    },
    clear() {
      for (const { record } of [...expected.values()]) drop(record);
    },
  };
}

function keyOf({ namespace, name }: ReleaseKey): string {
  return `${namespace}/${name}`;
}
