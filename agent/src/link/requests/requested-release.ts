/** The release that a request is about, and what Helm has stored of it, read as the account of the deployment. */
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../../base/errors/index.ts";
import {
  isSameContent,
  type ReadRecords,
  type ReleaseKey,
  type Releases,
  recordSecretName,
  type StoredRelease,
} from "../../helm/index.ts";
import type { InventoryAttempt, InventoryReader, InventoryRevision } from "../../state/index.ts";

export interface RequestedRelease extends ReleaseKey {
  /** Sends requests as the account. */
  readonly rest: KubeRest;
  /** The account, for messages. */
  readonly subject: string;
  /** The revisions that the agent created. */
  readonly known?: readonly InventoryRevision[];
  /** The run of Helm that is in progress, or that has failed. */
  readonly attempt?: InventoryAttempt;
}

/** The resource of a kind; a text if the cluster does not have it: why. */
export type FindResource = (
  apiVersion: string,
  kind: string,
  signal: AbortSignal,
) => Promise<Resource<KubeObject> | string>;

export interface StoredDeps {
  /** What the agent has installed. Tenants of the cluster can write records, so no other record decides what is read. */
  readonly inventory: Pick<InventoryReader, "revisionOf">;
  readonly releases: Pick<Releases, "history">;
  readonly records: Pick<ReadRecords, "stored">;
}

/**
 * One revision, no matter who has written it: for people alone. Undefined: there is no such revision any more. Throws
 * RELEASE_UNREADABLE and LIMIT_EXCEEDED.
 */
export async function readRevision(
  { records }: Pick<StoredDeps, "records">,
  release: RequestedRelease,
  revision: number,
  signal: AbortSignal,
): Promise<StoredRelease | undefined> {
  const { stored, what } = await storedRevision(release, revision, signal);
  return stored === undefined ? undefined : await records.stored(stored, what);
}

/** As Helm has stored it, and what that is, for messages; undefined: there is no such revision any more. */
export async function storedRevision(
  { namespace, name, rest }: RequestedRelease,
  revision: number,
  signal: AbortSignal,
): Promise<{ readonly stored: string | undefined; readonly what: string }> {
  const ref = { namespace, name: recordSecretName({ name, revision }) };
  const secret = await rest.get(secrets, ref, { signal });
  return {
    stored: secret?.data?.["release"],
    what: `release Secret ${namespace}/${ref.name}`,
  };
}

/** The newest revisions first. */
export function revisionsOf(
  { releases }: Pick<StoredDeps, "releases">,
  { namespace, name }: ReleaseKey,
): readonly number[] {
  return releases
    .history(namespace, name)
    .map(({ revision }) => revision)
    .toSorted((a, b) => b - a);
}

/** A revision that the agent has installed. */
export interface FoundRelease {
  readonly release: StoredRelease;
  /** The value of its Secret. */
  readonly stored: string;
  /** Helm has printed nothing of it: see `fromRecord` of the inventory. */
  readonly isAsRead: boolean;
}

/**
 * The objects of a release that a request may read. A tenant could have written the record of a run that failed before the agent
 * read it, so of such a record only what is in the namespace of the release. Pure.
 */
export function readableObjects<T extends { readonly namespace?: string | undefined }>(
  { release, isAsRead }: Pick<FoundRelease, "release" | "isAsRead">,
  objects: readonly T[],
): readonly T[] {
  if (!isAsRead) return objects;
  return objects.filter(({ namespace = release.namespace }) => namespace === release.namespace);
}

/** Whether a request may read an object by the record, once its kind is known: one of the cluster is in no namespace. Pure. */
export function mayRead(
  { isAsRead }: Pick<FoundRelease, "isAsRead">,
  { namespaced }: Pick<Resource<KubeObject>, "namespaced">,
): boolean {
  return namespaced || !isAsRead;
}

/**
 * The newest revision that the agent has installed, as it was then. A record that somebody else has written or changed could name
 * any object of the cluster, which the agent would read with its own rights. Throws REQUEST_FAILED if there is none.
 */
export async function readNewest(
  deps: StoredDeps,
  release: RequestedRelease,
  signal: AbortSignal,
): Promise<FoundRelease> {
  const found = await findNewest(deps, release, signal);
  if (found !== undefined) return found;
  throw noRecord(deps, release);
}

/** Why there is no revision that the agent has installed. */
export function noRecord(deps: Pick<StoredDeps, "releases">, release: RequestedRelease): AppError {
  const { namespace, name } = release;
  return new AppError(
    agentErrors.REQUEST_FAILED,
    revisionsOf(deps, release).length === 0
      ? `Helm has no release ${namespace}/${name} in this cluster`
      : `release ${namespace}/${name} has no record that this agent has made and nobody has changed: it is being installed, or somebody else has changed it; retry once the deployment is in sync`,
  );
}

/**
 * Undefined: there is none. The run in progress counts only where no earlier one has ended. Throws RELEASE_UNREADABLE and
 * LIMIT_EXCEEDED.
 */
export async function findNewest(
  deps: StoredDeps,
  release: RequestedRelease,
  signal: AbortSignal,
): Promise<FoundRelease | undefined> {
  const { attempt } = release;
  const entered = revisionsOf(deps, release).flatMap((revision) => {
    const known = deps.inventory.revisionOf(release, revision);
    return known === undefined
      ? []
      : [{ revision, known: known.content, isAsRead: known.fromRecord === true }];
  });
  const running = attempt && {
    revision: attempt.revision,
    known: attempt.content,
    isAsRead: true,
  };
  for (const { revision, known, isAsRead } of [
    ...entered,
    ...(running === undefined ? [] : [running]),
  ]) {
    const { stored, what } = await storedRevision(release, revision, signal);
    if (stored === undefined) continue;
    const found = await deps.records.stored(stored, what);
    if (isSameContent(known, found)) return { release: found, stored, isAsRead };
  }
  return undefined;
}
