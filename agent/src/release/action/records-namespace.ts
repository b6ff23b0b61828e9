/**
 * Helm's records of a release that Flux has stored in another namespace than the release's (`recordsNamespace`). They are copied
 * to where Helm stores them here, so that the release is adopted with its history, and deleted once it is deployed again.
 */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import {
  isAlreadyExists,
  isForbidden,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  type ReadRecords,
  type ReleaseKey,
  type ReleaseRecord,
  type Releases,
  recordOf,
  recordSecretName,
  secretText,
  storedValue,
  takesOwnership,
} from "../../helm/index.ts";
import type { Inventory, ReleaseAssignment } from "../../state/index.ts";

export interface AdoptedRelease {
  readonly assignment: Pick<ReleaseAssignment, "owner">;
  readonly content: DeploymentContent;
  /** All requests are made as the deployment's account. */
  readonly client: Pick<ImpersonatedClient, "rest">;
  readonly signal: AbortSignal;
}

export interface RecordsNamespace {
  /**
   * Copies the records unless the release has others. Idempotent: it continues what was interrupted. Throws RELEASE_EXISTS if
   * the release may not be taken over.
   */
  copy(release: AdoptedRelease): Promise<void>;
  /** Deletes the copied records, as the release is deployed again. */
  clear(release: Omit<AdoptedRelease, "assignment">): Promise<void>;
}

export interface RecordsNamespaceDeps {
  readonly releases: Pick<Releases, "history" | "ran">;
  readonly records: Pick<ReadRecords, "stored">;
  readonly inventory: Pick<Inventory, "knows">;
  readonly log: Log;
}

export function createRecordsNamespace(deps: RecordsNamespaceDeps): RecordsNamespace {
  const { releases, inventory, log } = deps;

  /** The records in the other namespace that no deployment has. */
  function oldRecords(content: DeploymentContent): readonly ReleaseRecord[] {
    const { recordsNamespace, namespace, releaseName } = content;
    if (recordsNamespace === undefined || recordsNamespace === namespace) return [];
    const found = releases.history(recordsNamespace, releaseName);
    return found.some(({ owner }) => owner !== undefined) ? [] : found;
  }

  return {
    async copy({ assignment: { owner }, content, client: { rest }, signal }) {
      const old = oldRecords(content);
      if (old.length === 0) return;
      const release: ReleaseKey = { namespace: content.namespace, name: content.releaseName };
      const plan = planCopies(old, releases.history(release.namespace, release.name), {
        wasInstalled: inventory.knows(owner),
      });
      if (plan === undefined) return;
      const { continues, missing } = plan;
      if (continues !== undefined && !(await isCopied(rest, continues, release, signal))) return;
      for (const record of missing) {
        const secret = await rest.get(secrets, secretRefOf(record), { signal });
        if (secret === undefined || !(await isOf(deps, secret, release))) continue;
        if (!takesOwnership(content)) throw notTakenOver(release, record);
        if (!(await create(rest, copyFor(secret, release), signal))) return;
        // The newest comes first, and takes effect before the watch delivers it.
        const copied = recordOf(copyFor(secret, release));
        if (copied !== undefined && continues === undefined && record === missing[0])
          releases.ran(copied);
      }
      log.info(
        { deployment: owner.name, release: release.name, from: content.recordsNamespace },
        "records of the release copied",
      );
    },
    async clear({ content, client: { rest }, signal }) {
      const release: ReleaseKey = { namespace: content.namespace, name: content.releaseName };
      for (const record of oldRecords(content)) {
        const secret = await rest.get(secrets, secretRefOf(record), { signal });
        if (secret === undefined || !(await isOf(deps, secret, release))) continue;
        const { uid } = secret.metadata;
        try {
          await rest.delete(secrets, secretRefOf(record), {
            ...(uid !== undefined && { uid }),
            signal,
          });
        } catch (thrown) {
          if (!isForbidden(thrown)) throw thrown;
          log.warn({ secret: secretText(secret) }, "old record of the release may not be deleted");
          return;
        }
      }
    },
  };
}

export interface CopyPlan {
  /** The newest record was copied before: whether it was has to be checked. */
  readonly continues?: ReleaseRecord;
  /** The records to copy, the newest first: with it the release is no longer absent. */
  readonly missing: readonly ReleaseRecord[];
}

/**
 * Which records to copy. `here`: those in the namespace of the release. `wasInstalled`: the agent has installed it, so old
 * records are from an earlier time. Undefined: nothing is to be copied. Pure.
 */
export function planCopies(
  old: readonly ReleaseRecord[],
  here: readonly ReleaseRecord[],
  { wasInstalled }: { readonly wasInstalled: boolean },
): CopyPlan | undefined {
  const missing = newestFirst(old).filter(
    ({ revision }) => !here.some((record) => record.revision === revision),
  );
  if (wasInstalled || missing.length === 0) return undefined;
  if (here.length === 0) return { missing };
  const [newestOld] = newestFirst(old);
  const [newestHere] = newestFirst(here);
  return newestOld !== undefined && newestOld.revision === newestHere?.revision
    ? { continues: newestOld, missing }
    : undefined;
}

function newestFirst(records: readonly ReleaseRecord[]): readonly ReleaseRecord[] {
  return records.toSorted((a, b) => b.revision - a.revision);
}

/** Whether the record of the release is the same as an old one. */
async function isCopied(
  rest: Pick<KubeRest, "get">,
  old: ReleaseRecord,
  { namespace }: ReleaseKey,
  signal: AbortSignal,
): Promise<boolean> {
  const [before, copy] = await Promise.all([
    rest.get(secrets, secretRefOf(old), { signal }),
    rest.get(secrets, { ...secretRefOf(old), namespace }, { signal }),
  ]);
  return before !== undefined && copy !== undefined && storedValue(before) === storedValue(copy);
}

/** The namespace in a record is the namespace of its objects: another release of that name may have its records where it is. */
async function isOf(
  { records }: Pick<RecordsNamespaceDeps, "records">,
  secret: Secret,
  release: ReleaseKey,
): Promise<boolean> {
  try {
    const { namespace, name } = await records.stored(storedValue(secret), secretText(secret));
    return namespace === release.namespace && name === release.name;
  } catch (thrown) {
    // Helm cannot read it either.
    if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
    return false;
  }
}

const ownLabel = /^flotilla\.dev\//;

/** With all that Helm reads. Our own labels would say that the agent has created it. */
function copyFor({ metadata, type, data }: Secret, { namespace }: ReleaseKey): Secret {
  const labels = Object.entries(metadata.labels ?? {}).filter(([name]) => !ownLabel.test(name));
  return {
    metadata: { name: metadata.name, namespace, labels: Object.fromEntries(labels) },
    ...(type !== undefined && { type }),
    ...(data !== undefined && { data }),
  };
}

/** False: there is no such namespace, and so no object of the release. */
async function create(
  rest: Pick<KubeRest, "create">,
  copy: Secret,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await rest.create(secrets, copy, { signal });
  } catch (thrown) {
    if (isNotFound(thrown)) return false;
    if (!isAlreadyExists(thrown)) throw thrown;
  }
  return true;
}

function secretRefOf(record: ReleaseRecord): { readonly namespace: string; readonly name: string } {
  return { namespace: record.namespace, name: recordSecretName(record) };
}

function notTakenOver({ namespace, name }: ReleaseKey, record: ReleaseRecord): AppError {
  return new AppError(
    agentErrors.RELEASE_EXISTS,
    `release ${namespace}/${name} exists already, in revision ${record.revision} with its records in namespace ${record.namespace}, and this agent did not install it; nothing was changed. Allow the ownership to be taken over (helm.takeOwnership of a HelmOp, no disableTakeOwnership of a HelmRelease), or set another releaseName or namespace`,
  );
}
