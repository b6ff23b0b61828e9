/** The release that a request is about, and what Helm has stored of it, read as the account of the deployment. */
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../errors/index.ts";
import { type ReleaseKey, type Releases, recordSecretName } from "../helm/index.ts";
import type { HelmRelease, ReadRecords } from "../record/index.ts";

export interface RequestedRelease extends ReleaseKey {
  /** Sends requests as the account. */
  readonly rest: KubeRest;
  /** The account, for messages. */
  readonly subject: string;
}

/** The resource of a kind; a text if the cluster does not have it: why. */
export type FindResource = (
  apiVersion: string,
  kind: string,
  signal: AbortSignal,
) => Promise<Resource<KubeObject> | string>;

export interface StoredDeps {
  readonly releases: Pick<Releases, "history">;
  readonly records: Pick<ReadRecords, "stored">;
}

/** Undefined: there is no such revision any more. Throws RELEASE_UNREADABLE and LIMIT_EXCEEDED. */
export async function readRevision(
  { records }: Pick<StoredDeps, "records">,
  release: RequestedRelease,
  revision: number,
  signal: AbortSignal,
): Promise<HelmRelease | undefined> {
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

/** The newest revision, whose objects are in the cluster. Throws REQUEST_FAILED if there is none. */
export async function readNewest(
  deps: StoredDeps,
  release: RequestedRelease,
  signal: AbortSignal,
): Promise<HelmRelease> {
  const [newest] = revisionsOf(deps, release);
  const found =
    newest === undefined ? undefined : await readRevision(deps, release, newest, signal);
  if (found !== undefined) return found;
  throw new AppError(
    agentErrors.REQUEST_FAILED,
    `Helm has no release ${release.namespace}/${release.name} in this cluster`,
  );
}
