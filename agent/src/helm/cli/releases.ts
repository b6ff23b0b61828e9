/**
 * Helm's storage, kept up to date by a watch, so that a manual `helm upgrade` or `helm rollback` is observed at once. Only
 * labels are cached; a release's manifest is read when it is needed.
 */

import type { Change } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { WatchScope } from "../../base/index.ts";
import type { InventoryReader } from "../../state/index.ts";
import { createExpectedRecords } from "./expected-records.ts";
import { watchAllRecords, watchRecordsAsAccounts } from "./record-watches.ts";
import {
  knownRecord,
  type ReleaseKey,
  type ReleaseRecord,
  recordOf,
  recordSecretName,
} from "./release-record.ts";

export interface Releases {
  readonly synced: Promise<void>;
  /**
   * Makes these the namespaces whose records are watched for a release of a deployment, as its account, if impersonation is required:
   * then nothing is known of a namespace before. Throws RELEASE_UNREADABLE if the account may not list them.
   */
  observe(id: string, scope: WatchScope): Promise<void>;
  /** Reads the Secrets of a release: as the agent, or, if impersonation is required, as an account that observes it. */
  reader(release: ReleaseKey): KubeRest;
  /** The newest record of a release. */
  latest(namespace: string, name: string): ReleaseRecord | undefined;
  /** The newest record at each place where the release of this id was installed. */
  ownedBy(id: string): readonly ReleaseRecord[];
  /** All records of a release. */
  history(namespace: string, name: string): readonly ReleaseRecord[];
  /** Sets the result of a Helm run. It takes effect at once, before the watch delivers it. */
  ran(record: Omit<ReleaseRecord, "modifiedAtMs">): void;
  /** Removes an uninstalled release. It takes effect at once. `kept`: its newest record, if Helm has kept its history. */
  removed(release: ReleaseKey, kept?: ReleaseRecord): void;
  /** `onChange` is also called with this id when this release changes, no matter who installed it. */
  follow(id: string, release: ReleaseKey): void;
  /** Also ends what it observes. */
  unfollow(id: string): void;
  /** Called with the ids of releases whose account may read the records again, or not any more. */
  onReadable(listener: (ids: ReadonlySet<string>) => void): void;
  /** Called with the id of a release whose records changed. */
  onChange(listener: (id: string) => void): void;
  /** Called after `removed`: another one may now be at its place. */
  onRemoved(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ReleasesDeps {
  readonly rest: KubeRest;
  readonly inventory: InventoryReader;
  /** The records are watched as the accounts of the deployments, not with the agent's rights. */
  readonly isPerAccount?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export function createReleases({
  rest,
  inventory,
  isPerAccount = false,
  clock,
  log,
}: ReleasesDeps): Releases {
  const listeners: ((id: string) => void)[] = [];
  const removalListeners: (() => void)[] = [];
  const readableListeners: ((ids: ReadonlySet<string>) => void)[] = [];
  const watches = isPerAccount
    ? watchRecordsAsAccounts({
        inventory,
        log,
        onChange,
        onReadable(ids) {
          for (const listener of readableListeners) listener(ids);
        },
      })
    : watchAllRecords({ rest, log, onChange });
  const { secretsOf } = watches;
  const expected = createExpectedRecords({
    clock,
    exists: async (record) => {
      const ref = { namespace: record.namespace, name: recordSecretName(record) };
      return (await watches.reader(record).get(secrets, ref)) !== undefined;
    },
    onMissing: notify,
  });
  /** Deployments by release, and the reverse. */
  const followers = new Map<string, Set<string>>();
  const followed = new Map<string, string>();

  function notify(release: ReleaseKey): void {
    const owner = inventory.ownerOf(release);
    for (const id of new Set([
      ...(owner === undefined ? [] : [owner.id]),
      ...(followers.get(keyOf(release)) ?? []),
    ]))
      for (const listener of listeners) listener(id);
  }

  function unfollow(id: string): void {
    const key = followed.get(id);
    if (key === undefined) return;
    followed.delete(id);
    const names = followers.get(key);
    names?.delete(id);
    if (names?.size === 0) followers.delete(key);
  }

  function history(namespace: string, name: string): readonly ReleaseRecord[] {
    const release = { namespace, name };
    const observed = secretsOf(release)
      .filter(({ metadata }) => !expected.isRemoved(release, metadata.uid ?? ""))
      .flatMap((secret) => recordOf(secret) ?? []);
    const own = expected.get(release);
    const all =
      own === undefined
        ? observed
        : [...observed.filter(({ revision }) => revision !== own.revision), own];
    return all.map((record) => knownRecord(record, inventory));
  }

  function latest(namespace: string, name: string): ReleaseRecord | undefined {
    return newest(history(namespace, name));
  }

  function onChange({ before, after }: Change<Secret>): void {
    const changed = after ?? before;
    const record = changed && recordOf(changed);
    if (record !== undefined)
      expected.observe(record, after === undefined, secretsOf(record).map(uidOf));
    // A change of its labels may have moved it from another release.
    for (const release of new Map(
      [before, after]
        .flatMap((secret) => (secret && recordOf(secret)) ?? [])
        .map((each) => [keyOf(each), each]),
    ).values())
      notify(release);
  }

  function ran(release: Omit<ReleaseRecord, "modifiedAtMs">): void {
    // The watch may have delivered it before Helm's process ended.
    const isObserved = secretsOf(release)
      .flatMap((secret) => recordOf(secret) ?? [])
      .some(({ revision, status }) => revision === release.revision && status === release.status);
    if (isObserved) expected.drop(release);
    else expected.add({ ...release, modifiedAtMs: clock.now() });
  }

  return {
    synced: watches.synced,
    observe: watches.observe,
    reader: watches.reader,
    latest,
    history,
    ownedBy(id) {
      return inventory
        .releasesOf(id)
        .flatMap(({ namespace, name }) => latest(namespace, name) ?? []);
    },
    ran,
    removed(release, kept) {
      // Records that stay must not be hidden: Helm goes on from their revisions.
      if (kept === undefined) expected.addRemoved(release, secretsOf(release).map(uidOf));
      else ran({ ...kept, status: "uninstalled" });
      for (const listener of removalListeners) listener();
    },
    follow(id, release) {
      const key = keyOf(release);
      if (followed.get(id) === key) return;
      unfollow(id);
      followed.set(id, key);
      followers.set(key, (followers.get(key) ?? new Set()).add(id));
    },
    unfollow(id) {
      unfollow(id);
      watches.forget(id);
    },
    onReadable(listener) {
      readableListeners.push(listener);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    onRemoved(listener) {
      removalListeners.push(listener);
    },
    async run(signal) {
      await watches.run(signal);
      expected.clear();
    },
  };
}

function keyOf({ namespace, name }: ReleaseKey): string {
  return `${namespace}/${name}`;
}

function uidOf({ metadata }: Secret): string {
  return metadata.uid ?? "";
}

function newest(records: readonly ReleaseRecord[]): ReleaseRecord | undefined {
  return records.reduce<ReleaseRecord | undefined>(
    (best, record) => (best === undefined || record.revision > best.revision ? record : best),
    undefined,
  );
}
