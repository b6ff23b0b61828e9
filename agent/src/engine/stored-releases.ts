/**
 * Releases as Helm has printed or stored them, and what is changed in a record without Helm: unlocking it, whose it is, and
 * what becomes of what it has installed.
 */
import type { DeploymentKey } from "@flotilla/proto/messages.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { agentErrors } from "../errors.ts";
import {
  decodeRecord,
  failedRecord,
  type HelmRelease,
  isLocked,
  parseRelease,
  type ReleaseRecord,
  recordOf,
  recordSecretName,
  releaseLabels,
  rewrittenRecord,
} from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";

type Place = Pick<ReleaseRecord, "namespace" | "name">;

export interface StoredReleases {
  /** What Helm has just printed, so that it has not to be read. */
  printed(release: HelmRelease): void;
  forget(release: Place): void;
  /** The release behind a record. Throws RELEASE_UNREADABLE. */
  read(record: ReleaseRecord): Promise<HelmRelease>;
  /** The record of one revision as it is now; undefined when there is none. */
  recordAt(release: Place, revision: number): Promise<ReleaseRecord | undefined>;
  /** Marks it as made for a deployment. `rest` is the deployment's: whose record it is depends on what that one may do. */
  adopt(rest: KubeRest, record: ReleaseRecord, owner: DeploymentKey): Promise<void>;
  /** Marks a revision as failed that nobody works on any more. `rest` as above. */
  unlock(rest: KubeRest, record: ReleaseRecord): Promise<void>;
  /** Gives a release that was read another manifest in its record. `rest` as above. */
  rewrite(rest: KubeRest, release: HelmRelease, manifest: string): Promise<void>;
}

export interface StoredReleasesDeps {
  /** The agent's own, with which it reads what there is. */
  readonly rest: KubeRest;
  readonly releases: Releases;
  readonly log: Log;
}

export function createStoredReleases(deps: StoredReleasesDeps): StoredReleases {
  const { rest: own, releases, log } = deps;
  /** By release. */
  const lastPrinted = new Map<string, HelmRelease>();

  function secretOf({ namespace, name }: Place, revision: number): Promise<Secret | undefined> {
    return own.get(secrets, { namespace, name: recordSecretName({ name, revision }) });
  }

  function printed(release: HelmRelease): void {
    lastPrinted.set(keyOf(release), release);
  }

  return {
    printed,
    forget: (release) => void lastPrinted.delete(keyOf(release)),
    async read(record) {
      const known = lastPrinted.get(keyOf(record));
      if (known?.revision === record.revision) return known;
      const what = `Helm's record ${record.namespace}/${recordSecretName(record)}`;
      const secret = await secretOf(record, record.revision);
      if (secret === undefined) {
        throw new AppError(
          agentErrors.RELEASE_UNREADABLE,
          `read ${what}: it is not there any more`,
        );
      }
      const release = parseRelease(await decodeRecord(secret), what);
      printed(release);
      return release;
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
      releases.ran({ ...record, owner });
      log.info({ release: record.name, namespace, deployment: owner.name }, "release adopted");
    },
    async unlock(rest, record) {
      const secret = await secretOf(record, record.revision);
      if (secret === undefined) return;
      const current = recordOf(secret);
      // The watch is behind: whoever had it was through.
      if (current !== undefined && !isLocked(current)) {
        releases.ran(current);
        return;
      }
      const why = "the agent that ran Helm was ended before Helm was through";
      await rest.replace(secrets, await failedRecord(secret, why));
      releases.ran({ ...record, status: "failed" });
      log.warn(
        { release: record.name, namespace: record.namespace, revision: record.revision },
        "release was locked by a run that was cut off, unlocked",
      );
    },
    async rewrite(rest, release, manifest) {
      const secret = await secretOf(release, release.revision);
      if (secret === undefined) return;
      await rest.replace(secrets, await rewrittenRecord(secret, manifest));
      printed({ ...release, manifest });
    },
  };
}

function keyOf({ namespace, name }: Place): string {
  return `${namespace}/${name}`;
}
