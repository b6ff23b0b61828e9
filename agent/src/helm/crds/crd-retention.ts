/**
 * Makes the CustomResourceDefinitions of a release outlive it, or not (docs/adr/0015). Helm decides by its release Secret when
 * it uninstalls, and by the live object when it upgrades; the policy is written to both. Level-triggered; releases without
 * definitions cost no request.
 */
import { createSemaphore } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isForbidden } from "@flotilla/shared/kube/client";
import {
  apiVersionOf,
  type CustomResourceDefinition,
  customResourceDefinitions,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import { type ReleaseKey, type ReleaseRecord, recordSecretName } from "../cli/release-record.ts";
import type { Releases } from "../cli/releases.ts";
import type { StoredReleases } from "../cli/stored-releases.ts";
import { type ReleasedCrd, withoutAdditions } from "../record/crd-documents.ts";
import type { ReadRecords } from "../record/read-records.ts";
import type { StoredRelease } from "../record/stored-release.ts";
import {
  crdFieldManager,
  type OwnAnnotations,
  policyChange,
  transferOwnership,
} from "./live-crd.ts";

export interface CrdPolicy {
  /** Definitions stay when their release is uninstalled. */
  readonly keep: boolean;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

export interface CrdRetention {
  /** For a release that is in sync, so that a manual `helm uninstall` keeps definitions too. */
  reconcile(record: ReleaseRecord, policy: CrdPolicy): Promise<void>;
  /** Must be called before Helm upgrades a release, which deletes objects that the chart does not contain any more. */
  beforeUpgrade(release: ReleaseKey, policy: CrdPolicy): Promise<void>;
  /** Must be called before Helm uninstalls a release. `to`: where the release moves to, with the definitions that stay. */
  beforeRemoval(record: ReleaseRecord, policy: CrdPolicy, to?: ReleaseKey): Promise<void>;
}

export interface CrdRetentionDeps {
  readonly stored: StoredReleases;
  readonly records: Pick<ReadRecords, "manifest">;
  readonly releases: Pick<Releases, "history">;
  readonly log: Log;
}

/** Requests for one release; charts have some dozens of definitions. */
const concurrency = 8;

export function createCrdRetention(deps: CrdRetentionDeps): CrdRetention {
  const { stored, records, releases, log } = deps;
  /** The policy that was applied last, by release. */
  const applied = new WeakMap<StoredRelease, boolean>();

  async function write(release: StoredRelease, { keep, client }: CrdPolicy, consequence: string) {
    const manifest = keep
      ? await records.manifest(release, "withKeptCrds")
      : withoutAdditions(release.manifest);
    if (manifest === release.manifest) return;
    const { namespace } = release;
    try {
      await stored.rewrite(client.rest, release, { manifest });
    } catch (thrown) {
      if (!isForbidden(thrown)) throw thrown;
      throw new AppError(
        agentErrors.CRDS_NOT_KEPT,
        `${keep ? "keep" : "do not keep"} the CustomResourceDefinitions of release ${namespace}/${release.name} on uninstall: update Secret ${namespace}/${recordSecretName(release)} as ${client.subject}, which needs the right to update it: ${messageOf(thrown)}; ${consequence}`,
        { cause: thrown },
      );
    }
    log.info(
      { release: release.name, namespace, revision: release.revision, keep },
      "retention of the release's definitions written to Helm's storage",
    );
  }

  return {
    async reconcile(record, policy) {
      const release = await stored.read(record);
      if (applied.get(release) === policy.keep) return;
      const consequence = "the release itself is installed";
      await write(release, policy, consequence);
      await annotate(deps, release, policy, consequence);
      applied.set(await stored.read(record), policy.keep);
    },
    async beforeUpgrade(key, policy) {
      const release = await readable(
        stored,
        comparedRevision(releases.history(key.namespace, key.name)),
      );
      if (release === undefined) return;
      await annotate(deps, release, policy, "the release is not changed until then");
    },
    async beforeRemoval(record, policy, to) {
      const release = await readable(stored, record);
      if (release === undefined) return;
      const consequence = "the release is not changed until then";
      if (to !== undefined && !isSameRelease(to, release))
        await transferAll(deps, release, to, policy, consequence);
      await write(release, policy, consequence);
    },
  };
}

/** The revision that Helm compares the new one with: the last deployed one, else the last one. */
function comparedRevision(history: readonly ReleaseRecord[]): ReleaseRecord | undefined {
  const deployed = history.filter(({ status }) => status === "deployed");
  return (deployed.length > 0 ? deployed : history).reduce<ReleaseRecord | undefined>(
    (last, record) => (last === undefined || record.revision > last.revision ? record : last),
    undefined,
  );
}

/** Undefined if there is none, or it cannot be read: then Helm cannot read it either, and deletes nothing. */
async function readable(
  stored: StoredReleases,
  record: ReleaseRecord | undefined,
): Promise<StoredRelease | undefined> {
  if (record === undefined) return undefined;
  try {
    return await stored.read(record);
  } catch (thrown) {
    if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
    return undefined;
  }
}

/** Sets or removes the policy annotation on the definitions in the cluster. */
async function annotate(
  { records }: Pick<CrdRetentionDeps, "records">,
  release: StoredRelease,
  policy: CrdPolicy,
  consequence: string,
): Promise<void> {
  const { keep } = policy;
  const crds = await records.manifest(release, "crds");
  await applyEach(
    crds.filter(({ hasOwnPolicy }) => !hasOwnPolicy),
    (crd) => policyChange(crd, keep, release),
    policy,
    {
      what: (name) =>
        `${keep ? "keep" : "do not keep"} CustomResourceDefinition ${name} when its release is uninstalled`,
      consequence,
    },
  );
}

/** Makes the moved release the owner of the definitions that stay; Helm would otherwise reject them there. */
async function transferAll(
  { records }: Pick<CrdRetentionDeps, "records">,
  release: StoredRelease,
  to: ReleaseKey,
  policy: CrdPolicy,
  consequence: string,
): Promise<void> {
  const crds = await records.manifest(release, "crds");
  await applyEach(
    crds.filter(({ hasOwnPolicy }) => policy.keep || hasOwnPolicy),
    (crd) => transferOwnership(crd, release, to),
    policy,
    {
      what: (name) =>
        `transfer CustomResourceDefinition ${name} to release ${to.namespace}/${to.name}`,
      consequence,
    },
  );
}

/** For error messages. */
interface Explanation {
  readonly what: (name: string) => string;
  readonly consequence: string;
}

/** All annotations of our field manager; undefined: no change. */
type ChangeOf = (crd: CustomResourceDefinition) => OwnAnnotations | undefined;

async function applyEach(
  crds: readonly ReleasedCrd[],
  changeOf: ChangeOf,
  policy: CrdPolicy,
  explanation: Explanation,
): Promise<void> {
  const semaphore = createSemaphore(concurrency);
  const tasks = crds.map(({ name }) =>
    semaphore.run(() => applyOne(name, changeOf, policy, explanation)),
  );
  const failed = (await Promise.allSettled(tasks)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

async function applyOne(
  name: string,
  changeOf: ChangeOf,
  { client, signal }: CrdPolicy,
  { what, consequence }: Explanation,
): Promise<void> {
  try {
    const crd = await client.rest.get(customResourceDefinitions, { name }, { signal });
    const annotations = crd && changeOf(crd);
    if (annotations === undefined) return;
    // With its UID, so that apply does not create it if it has just been deleted.
    const body = {
      apiVersion: apiVersionOf(customResourceDefinitions),
      kind: customResourceDefinitions.kind,
      metadata: { name, uid: crd?.metadata.uid, annotations },
    };
    await client.rest.patch(
      customResourceDefinitions,
      { name },
      // Helm has applied the annotations that are transferred.
      { type: "apply", body, force: true },
      { signal, fieldManager: crdFieldManager },
    );
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    throw new AppError(
      agentErrors.CRDS_NOT_KEPT,
      `${what(name)}, as ${client.subject}, which needs the rights to get and to patch it: ${messageOf(thrown)}; ${consequence}`,
      { cause: thrown },
    );
  }
}

function isSameRelease(a: ReleaseKey, b: ReleaseKey): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}
