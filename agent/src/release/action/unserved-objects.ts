/**
 * Objects and hooks of a release whose kind the cluster does not have any more: somebody has deleted its CustomResourceDefinition, and so
 * all of its objects. Helm, which looks for each kind before it deletes anything, would fail for ever, and say only that it failed. A hook
 * of such a kind cannot run: the others do.
 */
import { createSemaphore } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isForbidden } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import { listNames } from "@flotilla/shared/text";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  type KindChange,
  type OwnedObject,
  type ReadRecords,
  type ReleaseRecord,
  readHooks,
  recordSecretName,
  type StoredRelease,
  type StoredReleases,
} from "../../helm/index.ts";
import { createFindServedKind, type ServedKind } from "./served-kinds.ts";

/** To be called before Helm uninstalls a release, with a record that may be acted on. */
export interface UnservedObjects {
  /**
   * Takes the objects and hooks whose kinds are gone out of Helm's newest record, and returns them. Objects of a kind that has lost the
   * version of the record are deleted, and run, in a version that it still has. Without either, nothing is written. Throws
   * KIND_UNAVAILABLE, before it changes anything, where the cluster cannot say it now.
   */
  leaveOut(record: ReleaseRecord, options: LeaveOutOptions): Promise<readonly SkippedObject[]>;
}

export interface LeaveOutOptions {
  readonly client: ImpersonatedClient;
  /** Helm will run no hooks. */
  readonly withoutHooks: boolean;
  readonly signal: AbortSignal;
}

/** What Helm neither deletes nor runs. */
export interface SkippedObject extends OwnedObject {
  readonly isHook?: true;
}

export interface UnservedObjectsDeps {
  readonly stored: Pick<StoredReleases, "read" | "rewrite">;
  readonly records: Pick<ReadRecords, "manifest" | "withKindChanges">;
  readonly log: Log;
}

const concurrency = 8;
/** More than a chart has. A record with more of them, which somebody has written, is Helm's. */
const maxKinds = 500;

export function createUnservedObjects(deps: UnservedObjectsDeps): UnservedObjects {
  const { stored, records, log } = deps;
  return {
    async leaveOut(record, { client, withoutHooks, signal }) {
      const release = await readable(stored, record);
      if (release === undefined) return [];
      const hooks = withoutHooks ? [] : await hooksOfUninstall(records, release);
      const objects = [...(await records.manifest(release, "objects")), ...hooks];
      const kinds = new Map(objects.map((object) => [kindOf(object), object]));
      if (kinds.size > maxKinds) return [];
      const find = createFindServedKind(client.rest, signal);
      const semaphore = createSemaphore(concurrency);
      const found = await Promise.all(
        [...kinds.values()].map((object) =>
          semaphore.run(async () => ({ object, served: await find(object) })),
        ),
      );
      const changes = found.flatMap(({ object, served }) => changesOf(release, object, served));
      if (changes.length === 0) return [];
      const hookKinds = new Set(hooks.map(kindOf));
      const isOfHook = (change: KindChange) => hookKinds.has(kindOf(change));
      await rewrite(deps, release, { changes, hookKinds: changes.filter(isOfHook) }, client);
      const gone = new Set(changes.flatMap((each) => (each.servedAs ? [] : [kindOf(each)])));
      const skipped = objects.filter((object) => gone.has(kindOf(object)));
      const { namespace, name, revision } = release;
      log.warn(
        { release: name, namespace, revision, objects: namesOf(skipped), changes },
        "kinds of the release are not served any more, uninstalling it without them",
      );
      return skipped;
    },
  };
}

/** The continuation of a message; "" without any. */
export function skippedText(skipped: readonly SkippedObject[]): string {
  if (skipped.length === 0) return "";
  return `; skipped, because the cluster does not have their kinds any more: ${namesOf(skipped)}`;
}

/** Those that Helm runs when it uninstalls the release. */
async function hooksOfUninstall(
  records: Pick<ReadRecords, "manifest">,
  release: StoredRelease,
): Promise<readonly SkippedObject[]> {
  const hooks = await readHooks(records, release);
  return hooks
    .filter(({ events }) => events.includes("pre-delete") || events.includes("post-delete"))
    .map((hook) => ({ ...hook, isHook: true }));
}

function namesOf(objects: readonly SkippedObject[]): string {
  return listNames(objects.map(objectText));
}

function objectText({ kind, namespace, name, isHook }: SkippedObject): string {
  return `${isHook === true ? "hook " : ""}${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

function kindOf({ apiVersion, kind }: Pick<OwnedObject, "apiVersion" | "kind">): string {
  return `${apiVersion} ${kind}`;
}

function changesOf(
  release: StoredRelease,
  object: SkippedObject,
  served: ServedKind,
): readonly KindChange[] {
  const { apiVersion, kind } = object;
  switch (served.kind) {
    case "served":
      return [];
    case "gone":
      return [{ apiVersion, kind }];
    case "in another version":
      return [{ apiVersion, kind, servedAs: served.apiVersion }];
    case "unavailable":
      throw new AppError(
        agentErrors.KIND_UNAVAILABLE,
        `release ${release.namespace}/${release.name} is not uninstalled, because the API server cannot serve kind ${kind} of ${apiVersion} now (${objectText(object)}): ${served.why}; nothing was changed`,
      );
  }
}

async function rewrite(
  { stored, records }: UnservedObjectsDeps,
  release: StoredRelease,
  { changes, hookKinds }: Record<"changes" | "hookKinds", readonly KindChange[]>,
  client: ImpersonatedClient,
): Promise<void> {
  const manifest = await records.withKindChanges(release, changes);
  // What Helm reads in another way is in no object that was found.
  if (manifest === release.manifest && hookKinds.length === 0) return;
  try {
    const change = { manifest, ...(hookKinds.length > 0 && { hookKinds }) };
    await stored.rewrite(client.rest, release, change);
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    const { namespace, name } = release;
    throw new AppError(
      agentErrors.HELM_FAILED,
      `uninstall release ${namespace}/${name} without the objects whose kinds the cluster does not serve any more: update Secret ${namespace}/${recordSecretName(release)} as ${client.subject}, which needs the right to update it: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** Undefined if the record cannot be read: then Helm cannot read it either, and says so. */
async function readable(
  stored: Pick<StoredReleases, "read">,
  record: ReleaseRecord,
): Promise<StoredRelease | undefined> {
  try {
    return await stored.read(record);
  } catch (thrown) {
    if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
    return undefined;
  }
}
