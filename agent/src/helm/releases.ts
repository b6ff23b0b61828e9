/**
 * Helm's storage, kept up to date by a watch, so that a manual `helm upgrade` or `helm rollback` is observed at once. Only
 * labels are cached; a release's manifest is read when it is needed.
 */

import { createInformer, defineIndex, type Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { createExpectedRecords } from "./expected-records.ts";
import {
  helmOwnerSelector,
  type ReleaseKey,
  type ReleaseRecord,
  recordOf,
  recordSecretName,
} from "./release-record.ts";

export interface Releases {
  readonly synced: Promise<void>;
  /** The newest record of a release. */
  latest(namespace: string, name: string): ReleaseRecord | undefined;
  /** The newest record of every release of a deployment of this name. */
  ownedBy(deployment: string): readonly ReleaseRecord[];
  /** All records of a release. */
  history(namespace: string, name: string): readonly ReleaseRecord[];
  /** Sets the result of a Helm run. It takes effect at once, before the watch delivers it. */
  ran(record: Omit<ReleaseRecord, "modifiedAtMs">): void;
  /** Removes an uninstalled release. It takes effect at once. */
  removed(release: ReleaseKey): void;
  /** Called with the name of a deployment whose releases changed. */
  onChange(listener: (deployment: string) => void): void;
  /** Called after `removed`: another deployment may now use the name. */
  onRemoved(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ReleasesDeps {
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
}

const byRelease = defineIndex<Secret>("release", (secret) => {
  const record = recordOf(secret);
  return record === undefined ? [] : [`${record.namespace}/${record.name}`];
});
const byDeployment = defineIndex<Secret>("deployment", ownersOf);

export function createReleases({ rest, clock, log }: ReleasesDeps): Releases {
  const listeners: ((deployment: string) => void)[] = [];
  const removalListeners: (() => void)[] = [];
  const informer = createReleaseInformer(rest, log);
  const expected = createExpectedRecords({
    clock,
    exists: async (record) => {
      const ref = { namespace: record.namespace, name: recordSecretName(record) };
      return (await rest.get(secrets, ref)) !== undefined;
    },
    onMissing({ owner }) {
      if (owner !== undefined) notify(owner.name);
    },
  });

  function notify(deployment: string): void {
    for (const listener of listeners) listener(deployment);
  }

  function secretsOf({ namespace, name }: ReleaseKey): readonly Secret[] {
    return informer.store.byIndex(byRelease, `${namespace}/${name}`);
  }

  function history(namespace: string, name: string): readonly ReleaseRecord[] {
    const release = { namespace, name };
    const observed = secretsOf(release)
      .filter(({ metadata }) => !expected.isRemoved(release, metadata.uid ?? ""))
      .flatMap((secret) => recordOf(secret) ?? []);
    const own = expected.get(release);
    if (own === undefined) return observed;
    return [...observed.filter(({ revision }) => revision !== own.revision), own];
  }

  function latest(namespace: string, name: string): ReleaseRecord | undefined {
    return newest(history(namespace, name));
  }

  informer.onChange(({ before, after }) => {
    const changed = after ?? before;
    const record = changed && recordOf(changed);
    if (record !== undefined)
      expected.observe(record, after === undefined, secretsOf(record).map(uidOf));
    for (const name of new Set(
      [before, after].flatMap((secret) => (secret ? ownersOf(secret) : [])),
    ))
      notify(name);
  });

  return {
    synced: informer.synced,
    latest,
    history,
    ownedBy(deployment) {
      const releases = new Map<string, ReleaseRecord>();
      const observed = informer.store
        .byIndex(byDeployment, deployment)
        .flatMap((secret) => recordOf(secret) ?? []);
      const own = expected.list().filter(({ owner }) => owner?.name === deployment);
      for (const { namespace, name } of [...observed, ...own]) {
        const record = latest(namespace, name);
        if (record?.owner?.name === deployment) releases.set(`${namespace}/${name}`, record);
      }
      return [...releases.values()];
    },
    ran(release) {
      // The watch may have delivered it before Helm's process ended.
      const isObserved = secretsOf(release)
        .flatMap((secret) => recordOf(secret) ?? [])
        .some(
          ({ revision, status, owner }) =>
            revision === release.revision &&
            status === release.status &&
            owner?.uid === release.owner?.uid,
        );
      if (isObserved) expected.drop(release);
      else expected.add({ ...release, modifiedAtMs: clock.now() });
    },
    removed(release) {
      expected.addRemoved(release, secretsOf(release).map(uidOf));
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
      expected.clear();
    },
  };
}

function createReleaseInformer(rest: KubeRest, log: Log): Informer<Secret> {
  return createInformer<Secret>({
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
}

/** The name of the deployment of a release, if any. */
function ownersOf(secret: Secret): readonly string[] {
  const owner = recordOf(secret)?.owner;
  return owner === undefined ? [] : [owner.name];
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
