/**
 * What Helm's storage says, kept up to date by a watch: a `helm upgrade` or `helm rollback` by hand is noticed at once.
 * Only labels are kept; a release's manifest is read when it is needed.
 */

import { createInformer } from "@flotilla/shared/kube/cache/informer.ts";
import { defineIndex } from "@flotilla/shared/kube/cache/object-index.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";
import {
  helmOwnerSelector,
  isLocked,
  type ReleaseRecord,
  recordOf,
  recordSecretName,
} from "./release-record.ts";

export interface Releases {
  readonly synced: Promise<void>;
  /** The newest record of a release. */
  latest(namespace: string, name: string): ReleaseRecord | undefined;
  /** The newest record of every release that was made for a deployment of this name. */
  ownedBy(deployment: string): readonly ReleaseRecord[];
  /** All records of a release. */
  history(namespace: string, name: string): readonly ReleaseRecord[];
  /** What a run of Helm has left: known at once, whenever the watch tells it. */
  ran(record: Omit<ReleaseRecord, "modifiedAtMs">): void;
  /** A release that was uninstalled: known at once. */
  removed(release: Pick<ReleaseRecord, "namespace" | "name">): void;
  /** Called with the deployments' names whose releases changed. */
  onChange(listener: (deployment: string) => void): void;
  /** Called when `removed` has told of a release, and another deployment may have it. */
  onRemoved(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ReleasesDeps {
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a run of Helm has left, and the watch has not told yet. */
interface Ahead {
  readonly record: ReleaseRecord;
  readonly timer: Timer;
}

/** The watch tells of a record within milliseconds; after this long it is looked for. */
const patienceMs = 2_000;

const byRelease = defineIndex<Secret>("release", (secret) =>
  keysOf(secret, ({ namespace, name }) => `${namespace}/${name}`),
);
const byDeployment = defineIndex<Secret>("deployment", (secret) =>
  keysOf(secret, ({ owner }) => owner?.name),
);

export function createReleases({ rest, clock, log }: ReleasesDeps): Releases {
  const informer = createInformer<Secret>({
    rest,
    resource: secrets,
    log: log.child({ cache: "helm releases" }),
    labelSelector: helmOwnerSelector,
    transform: ({
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion, labels },
    }) => ({
      ...(apiVersion !== undefined && { apiVersion }),
      ...(kind !== undefined && { kind }),
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
        ...(labels !== undefined && { labels }),
      },
    }),
  });
  /** By release; dropped when the watch has told of that revision, or when it is found to be gone. */
  const ahead = new Map<string, Ahead>();
  /** UIDs of the records that went with a removed release; dropped when the watch has told that none of them is left. */
  const gone = new Map<string, ReadonlySet<string>>();

  function history(namespace: string, name: string): readonly ReleaseRecord[] {
    const key = `${namespace}/${name}`;
    const removed = gone.get(key);
    const seen = informer.store
      .byIndex(byRelease, key)
      .filter(({ metadata }) => removed?.has(metadata.uid ?? "") !== true)
      .flatMap((secret) => recordOf(secret) ?? []);
    const own = ahead.get(key)?.record;
    if (own === undefined) return seen;
    return [...seen.filter(({ revision }) => revision !== own.revision), own];
  }

  function forget(key: string): void {
    ahead.get(key)?.timer.cancel();
    ahead.delete(key);
  }

  function believe(key: string, record: ReleaseRecord): void {
    forget(key);
    ahead.set(key, { record, timer: clock.setTimeout(() => void verify(key, record), patienceMs) });
  }

  /** Somebody may have deleted it before Helm's run had ended here, and then the watch has nothing more to tell. */
  async function verify(key: string, record: ReleaseRecord): Promise<void> {
    const ref = { namespace: record.namespace, name: recordSecretName(record) };
    const isThere = await rest.get(secrets, ref).then(
      (found) => found !== undefined,
      () => true,
    );
    if (ahead.get(key)?.record !== record) return;
    if (isThere) believe(key, record);
    else {
      forget(key);
      if (record.owner !== undefined) tell(record.owner.name);
    }
  }

  function tell(deployment: string): void {
    for (const listener of listeners) listener(deployment);
  }

  function latest(namespace: string, name: string): ReleaseRecord | undefined {
    return newest(history(namespace, name));
  }

  informer.onChange(({ before, after }) => {
    const told = after ?? before;
    const record = told === undefined ? undefined : recordOf(told);
    if (record !== undefined) {
      const key = `${record.namespace}/${record.name}`;
      const removed = gone.get(key);
      if (
        removed !== undefined &&
        !informer.store
          .byIndex(byRelease, key)
          .some(({ metadata }) => removed.has(metadata.uid ?? ""))
      )
        gone.delete(key);
      const own = ahead.get(key)?.record;
      // A record that somebody deleted is gone, whatever its status was.
      const isNews = after === undefined || !isLocked(record);
      if (own !== undefined && record.revision >= own.revision && isNews) forget(key);
    }
    for (const name of new Set(
      [before, after].flatMap((secret) =>
        secret === undefined ? [] : keysOf(secret, ({ owner }) => owner?.name),
      ),
    ))
      tell(name);
  });
  const listeners: ((deployment: string) => void)[] = [];
  const removalListeners: (() => void)[] = [];

  return {
    synced: informer.synced,
    latest,
    history,
    ownedBy(deployment) {
      const releases = new Map<string, ReleaseRecord>();
      const owned = informer.store
        .byIndex(byDeployment, deployment)
        .flatMap((secret) => recordOf(secret) ?? []);
      const own = [...ahead.values()]
        .map(({ record }) => record)
        .filter(({ owner }) => owner?.name === deployment);
      for (const { namespace, name } of [...owned, ...own]) {
        const record = latest(namespace, name);
        if (record?.owner?.name === deployment) releases.set(`${namespace}/${name}`, record);
      }
      return [...releases.values()];
    },
    ran(release) {
      const key = `${release.namespace}/${release.name}`;
      // The watch is often faster than Helm's own end, and then it has nothing more to tell.
      const isTold = informer.store
        .byIndex(byRelease, key)
        .flatMap((secret) => recordOf(secret) ?? [])
        .some(
          ({ revision, status, owner }) =>
            revision === release.revision &&
            status === release.status &&
            owner?.uid === release.owner?.uid,
        );
      if (isTold) {
        forget(key);
        return;
      }
      believe(key, { ...release, modifiedAtMs: clock.now() });
    },
    removed({ namespace, name }) {
      const key = `${namespace}/${name}`;
      forget(key);
      const left = informer.store.byIndex(byRelease, key);
      if (left.length > 0) gone.set(key, new Set(left.map(({ metadata }) => metadata.uid ?? "")));
      for (const listener of removalListeners) listener();
    },
    onChange(listener) {
      listeners.push(listener);
    },
    onRemoved(listener) {
      removalListeners.push(listener);
    },
    async run(signal) {
      await informer.run(signal);
      for (const key of [...ahead.keys()]) forget(key);
    },
  };
}

function newest(records: readonly ReleaseRecord[]): ReleaseRecord | undefined {
  return records.reduce<ReleaseRecord | undefined>(
    (best, record) => (best === undefined || record.revision > best.revision ? record : best),
    undefined,
  );
}

function keysOf(
  secret: Secret,
  keyOf: (record: ReleaseRecord) => string | undefined,
): readonly string[] {
  const record = recordOf(secret);
  const key = record === undefined ? undefined : keyOf(record);
  return key === undefined ? [] : [key];
}
