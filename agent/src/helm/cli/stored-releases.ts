/** Releases in Helm's storage, and the changes that the agent makes there without Helm: unlock, adopt, rewrite a manifest. */
import { createLruCache } from "@flotilla/shared/cache";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import type { Inventory, ReleaseOwner } from "../../state/index.ts";
import type { ReadRecords } from "../record/read-records.ts";
import {
  isSameContent,
  type ReleaseChange,
  type StoredRelease,
  withManifest,
} from "../record/stored-release.ts";
import {
  changedSecret,
  helmOwnerSelector,
  isLocked,
  type ReleaseKey,
  type ReleaseRecord,
  recordOf,
  recordSecretName,
  releaseLabels,
  secretText,
  storedValue,
} from "./release-record.ts";
import type { Releases } from "./releases.ts";

export interface StoredReleases {
  /** Caches what Helm has printed, so that it need not be read. */
  printed(release: StoredRelease): void;
  forget(release: ReleaseKey): void;
  /** The release of a record. Throws RELEASE_UNREADABLE and LIMIT_EXCEEDED. */
  read(record: ReleaseRecord): Promise<StoredRelease>;
  /**
   * All revisions of a release as Helm reads them, newest first, from the cluster. Helm selects them by their labels, so their
   * Secrets may have any name. Those that cannot be read are left out: Helm cannot read them either.
   */
  readAll(release: ReleaseKey): Promise<readonly StoredRelease[]>;
  /** The current record of a revision; undefined if there is none. */
  recordAt(release: ReleaseKey, revision: number): Promise<ReleaseRecord | undefined>;
  /** Labels a release as one of a deployment. `rest`: impersonated, so that the account's rights apply. */
  adopt(rest: KubeRest, record: ReleaseRecord, owner: ReleaseOwner): Promise<void>;
  /** Marks a revision as failed whose Helm process has ended. `rest`: impersonated. */
  unlock(rest: KubeRest, record: ReleaseRecord): Promise<void>;
  /** Marks a revision as failed, as Helm does whose wait for readiness ends. `rest`: impersonated. */
  fail(rest: KubeRest, record: ReleaseRecord, why: string): Promise<void>;
  /** Replaces the manifest of a release that was read, and changes its hooks. `rest`: impersonated. */
  rewrite(
    rest: KubeRest,
    release: StoredRelease,
    change: Extract<ReleaseChange, { manifest: string }>,
  ): Promise<void>;
  /** Deletes the only revision of a release, which has failed; its objects stay. `rest`: impersonated. */
  discard(rest: KubeRest, record: ReleaseRecord, signal: AbortSignal): Promise<void>;
  /** Deletes all revisions of a release; its objects stay. `rest`: impersonated. */
  deleteHistory(rest: KubeRest, release: ReleaseKey, signal: AbortSignal): Promise<void>;
}

export interface StoredReleasesDeps {
  readonly releases: Pick<Releases, "reader" | "history" | "ran" | "removed">;
  readonly records: ReadRecords;
  readonly inventory: Pick<Inventory, "adopt" | "rewritten" | "removed" | "revisionOf">;
  readonly log: Log;
}

/** The releases of a large cluster, with usual manifests. */
const cacheSize = 1_000;
const cacheCharacters = 32 * 1024 * 1024;

export function createStoredReleases(deps: StoredReleasesDeps): StoredReleases {
  const { releases, records, inventory, log } = deps;
  /** By release. Tenants that make large ones must not fill the agent's memory. */
  const lastRead = createLruCache<StoredRelease>(cacheSize, {
    maxWeight: cacheCharacters,
    weightOf: ({ manifest }) => manifest.length,
  });

  async function secretOf(release: ReleaseKey, revision: number): Promise<Secret | undefined> {
    const { namespace, name } = release;
    const ref = { namespace, name: recordSecretName({ name, revision }) };
    return await releases.reader(release).get(secrets, ref);
  }

  function printed(release: StoredRelease): void {
    lastRead.set(keyOf(release), release);
  }

  async function markFailed(
    rest: KubeRest,
    secret: Secret,
    record: ReleaseRecord,
    why: string,
  ): Promise<void> {
    const value = await records.changed(storedValue(secret), secretText(secret), { failed: why });
    await rest.replace(secrets, changedSecret(secret, value, "failed"));
    releases.ran({ ...record, status: "failed" });
  }

  return {
    printed,
    forget: (release) => void lastRead.delete(keyOf(release)),
    async read(record) {
      const known = lastRead.get(keyOf(record));
      if (known?.revision === record.revision) return known;
      const what = `release Secret ${record.namespace}/${recordSecretName(record)}`;
      const secret = await secretOf(record, record.revision);
      if (secret === undefined)
        throw new AppError(agentErrors.RELEASE_UNREADABLE, `read ${what}: not found`);
      const release = await records.stored(storedValue(secret), what);
      printed(release);
      return release;
    },
    async readAll(release) {
      const { namespace, name } = release;
      const { items } = await releases.reader(release).list(secrets, {
        namespace,
        labelSelector: `${helmOwnerSelector},name=${name}`,
      });
      const found: StoredRelease[] = [];
      for (const secret of items) {
        try {
          found.push(await records.stored(storedValue(secret), secretText(secret)));
        } catch (thrown) {
          if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
        }
      }
      return found.toSorted((a, b) => b.revision - a.revision);
    },
    async recordAt(release, revision) {
      const secret = await secretOf(release, revision);
      return secret === undefined ? undefined : recordOf(secret);
    },
    async adopt(rest, record, owner) {
      const { namespace } = record;
      const labels = { [releaseLabels.deployment]: owner.name, [releaseLabels.uid]: owner.uid };
      const body = { metadata: { labels } };
      await rest.patch(
        secrets,
        { namespace, name: recordSecretName(record) },
        { type: "merge", body },
      );
      await inventory.adopt(record, owner);
      releases.ran({ ...record, labelled: { name: owner.name, uid: owner.uid } });
      log.info({ release: record.name, namespace, deployment: owner.name }, "release adopted");
    },
    async unlock(rest, record) {
      const secret = await secretOf(record, record.revision);
      if (secret === undefined) return;
      const current = recordOf(secret);
      // The cache is stale: the other Helm process has finished.
      if (current !== undefined && !isLocked(current)) {
        releases.ran(current);
        return;
      }
      const why = "Helm was ended while it was running, or did not change the release any more";
      await markFailed(rest, secret, record, why);
      log.warn(
        { release: record.name, namespace: record.namespace, revision: record.revision },
        "release was locked, unlocked",
      );
    },
    async fail(rest, record, why) {
      const secret = await secretOf(record, record.revision);
      if (secret !== undefined) await markFailed(rest, secret, record, why);
    },
    async rewrite(rest, release, change) {
      const secret = await secretOf(release, release.revision);
      if (secret === undefined) return;
      const what = secretText(secret);
      const value = await records.changed(storedValue(secret), what, change);
      await rest.replace(secrets, changedSecret(secret, value));
      const changed =
        change.hookKinds === undefined
          ? withManifest(release, change.manifest)
          : await records.stored(value, what);
      // Only if it was the agent's before: a manifest of somebody else stays that.
      const known = inventory.revisionOf(release, release.revision);
      if (isSameContent(known?.content, release))
        await inventory.rewritten(release, release.revision, changed.content);
      printed(changed);
    },
    async discard(rest, record, signal) {
      const { namespace } = record;
      const ref = { namespace, name: recordSecretName(record) };
      await rest.delete(secrets, ref, { signal });
      lastRead.delete(keyOf(record));
      releases.removed(record);
    },
    async deleteHistory(rest, { namespace, name }, signal) {
      for (const { revision } of releases.history(namespace, name)) {
        const ref = { namespace, name: recordSecretName({ name, revision }) };
        await rest.delete(secrets, ref, { signal });
      }
      await inventory.removed({ namespace, name });
      releases.removed({ namespace, name });
    },
  };
}

function keyOf({ namespace, name }: ReleaseKey): string {
  return `${namespace}/${name}`;
}
