/** After a patch by the client: sets lists that have two entries with the same key, which such a patch cannot change. */
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isConflict, type KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import {
  helmFieldManager,
  type ReadRecords,
  type ReleaseKey,
  type ReleaseRecord,
  type StoredRelease,
  type StoredReleases,
  type UpgradeOptions,
} from "../../helm/index.ts";
import { createDiscovery } from "../../observe/index.ts";
import { hasDoubledList, listRepairs } from "./doubled-lists.ts";
import { isFirst } from "./revision.ts";

export interface RepairDeps {
  readonly records: Pick<ReadRecords, "wholeObjects">;
  readonly log: Log;
}

export interface RepairedRelease {
  readonly release: StoredRelease;
  /** Earlier revisions, as far as they are known. */
  readonly before: readonly StoredRelease[];
  /** Impersonated. */
  readonly rest: KubeRest;
  readonly signal: AbortSignal;
}

export function isAppliedByClient({ applyMethod }: Pick<StoredRelease, "applyMethod">): boolean {
  return applyMethod !== "ssa";
}

/** The earlier revisions of a release that Helm is about to patch by the client. Undefined: it does not, or there are none. */
export async function releasesBefore(
  { stored }: { readonly stored: Pick<StoredReleases, "read" | "readAll"> },
  latest: ReleaseRecord | undefined,
  { serverSide }: Pick<UpgradeOptions, "serverSide">,
): Promise<readonly StoredRelease[] | undefined> {
  if (latest === undefined || isFirst(latest) || serverSide === "true") return undefined;
  // Helm keeps the method of the revision before; it fails, too, by a record that cannot be read.
  if (serverSide !== "false") {
    const last = await stored.read(latest).catch(unlessUnreadable);
    if (last === undefined || !isAppliedByClient(last)) return undefined;
  }
  return await stored.readAll(latest);
}

function unlessUnreadable(thrown: unknown): undefined {
  if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
  return undefined;
}

/** Throws HELM_FAILED if a list cannot be set: the release is not as its chart says then. */
export async function repairLists(
  { records, log }: RepairDeps,
  { release, before, rest, signal }: RepairedRelease,
): Promise<void> {
  const documents = await records.wholeObjects(release);
  const earlier = (await Promise.all(before.map((each) => records.wholeObjects(each)))).flat();
  for (const document of documents) {
    const same = earlier.filter((each) => isSame(each, document, release));
    if (![document, ...same].some(hasDoubledList)) continue;
    try {
      const lists = await repair({ rest, release, signal }, document, same);
      if (lists.length > 0) log.info({ ...nameOf(document), lists }, "lists with doubles set");
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      throw new AppError(
        agentErrors.HELM_FAILED,
        `set lists of ${document.kind ?? ""} ${document.metadata.name} of release ${release.namespace}/${release.name}, which have two entries with the same key: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
  }
}

/** An object that changes as often meanwhile is repaired with the next attempt. */
const maxAttempts = 4;

async function repair(
  { rest, release, signal }: Pick<RepairedRelease, "rest" | "release" | "signal">,
  document: KubeObject,
  before: readonly KubeObject[],
): Promise<readonly string[]> {
  const { apiVersion = "", kind = "", metadata } = document;
  const found = await createDiscovery(rest).find(apiVersion, kind, signal);
  if (found.kind === "not found") throw new Error(found.why);
  const { resource } = found;
  const namespace = metadata.namespace || release.namespace;
  const ref = { ...(resource.namespaced && { namespace }), name: metadata.name };
  for (let attempt = 1; ; attempt += 1) {
    const live = await rest.get(resource, ref, { signal });
    const repairs = live === undefined ? [] : listRepairs(document, live, before);
    if (live === undefined || repairs.length === 0) return [];
    // A conflict if it has changed since.
    const unchanged = {
      op: "replace",
      path: "/metadata/resourceVersion",
      value: live.metadata.resourceVersion,
    };
    try {
      const options = { fieldManager: helmFieldManager, signal };
      await rest.patch(resource, ref, { type: "json", body: [unchanged, ...repairs] }, options);
      return repairs.map(({ path }) => path);
    } catch (thrown) {
      if (!isConflict(thrown) || attempt >= maxAttempts) throw thrown;
    }
  }
}

function isSame(a: KubeObject, b: KubeObject, { namespace }: ReleaseKey): boolean {
  return (
    a.kind === b.kind &&
    a.metadata.name === b.metadata.name &&
    (a.metadata.namespace || namespace) === (b.metadata.namespace || namespace)
  );
}

function nameOf({ kind = "", metadata: { namespace, name } }: KubeObject) {
  return { kind, ...(namespace !== undefined && { namespace }), name };
}
