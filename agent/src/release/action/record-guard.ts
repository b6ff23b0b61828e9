/**
 * Checks what Helm is about to read: it deletes objects and runs hooks by its records, which everybody can write who may write
 * Secrets in the namespace of a release (docs/adr/0025).
 */
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  hasHooks,
  hasManifestOf,
  isSameContent,
  type OwnedObject,
  type ReadRecords,
  type ReleaseKey,
  type StoredRelease,
  type StoredReleases,
} from "../../helm/index.ts";
import type { Inventory } from "../../state/index.ts";
import { unmarkedObjects } from "./marked-objects.ts";

/** In whose name Helm acts. */
export interface Actor {
  readonly client: Pick<ImpersonatedClient, "isAgent" | "rest">;
  /** A user has requested to go on with records that are not the agent's. */
  readonly isForced: boolean;
  readonly signal: AbortSignal;
}

export interface RecordGuard {
  /** Whether the hooks of the release may run. Throws RELEASE_NOT_OURS. */
  beforeUninstall(release: ReleaseKey, actor: Actor): Promise<{ readonly withoutHooks: boolean }>;
  /** Whether the tests of the newest revision may run, which are hooks of its record. */
  beforeTests(
    release: ReleaseKey,
    revision: number,
    actor: Pick<Actor, "client">,
  ): Promise<{ readonly mayRun: boolean }>;
  /** Whether Helm may roll back if the upgrade or the installation fails. Throws RELEASE_NOT_OURS. */
  beforeUpgrade(release: ReleaseKey, actor: Actor): Promise<{ readonly mayRollBack: boolean }>;
  /** Throws RELEASE_NOT_OURS. */
  beforeRollback(release: ReleaseKey, actor: Actor): Promise<void>;
}

export interface RecordGuardDeps {
  readonly stored: Pick<StoredReleases, "readAll">;
  readonly records: Pick<ReadRecords, "manifest">;
  readonly inventory: Pick<Inventory, "revisionOf">;
}

export function createRecordGuard(deps: RecordGuardDeps): RecordGuard {
  const { stored, records: reading, inventory } = deps;

  async function read(release: ReleaseKey): Promise<readonly CheckedRecord[]> {
    return (await stored.readAll(release)).map((record) => {
      const isNamed = record.name === release.name && record.namespace === release.namespace;
      const known = isNamed ? inventory.revisionOf(release, record.revision) : undefined;
      const isSame = isSameContent(known?.content, record);
      const isPrinted = known?.fromRecord !== true;
      return {
        record,
        isOwn: isSame && isPrinted,
        isAsRead: isSame && !isPrinted,
        hasOwnManifest: known !== undefined && isPrinted && hasManifestOf(known.content, record),
      };
    });
  }

  const objectsOf: ObjectsOf = async (record) =>
    (await reading.manifest(record, "exactObjects")) ?? undefined;

  async function checkDeletions(release: ReleaseKey, compared: Used, actor: Actor): Promise<void> {
    if (!actor.isForced && actor.client.isAgent)
      await throwIfForeign(objectsOf, release, compared, "upgraded", actor);
  }

  return {
    async beforeUninstall(release, actor) {
      const records = await read(release);
      const [latest] = records;
      if (latest === undefined) return { withoutHooks: true };
      if (!actor.isForced && actor.client.isAgent)
        await throwIfForeign(objectsOf, release, { records, used: [latest] }, "uninstalled", actor);
      return { withoutHooks: !mayRun(latest, actor) };
    },
    async beforeTests(release, revision, actor) {
      const [latest] = await read(release);
      const isRevision = latest?.record.revision === revision;
      return { mayRun: isRevision && mayRun(latest, actor) };
    },
    async beforeUpgrade(release, actor) {
      const records = await read(release);
      const used = comparedRecords(records).filter((each) => !isInstalledOver(each));
      await checkDeletions(release, { records, used }, actor);
      const target = rollbackTarget(records);
      return { mayRollBack: target === undefined || mayRun(target, actor) };
    },
    async beforeRollback(release, actor) {
      const records = await read(release);
      await checkDeletions(release, { records, used: comparedRecords(records) }, actor);
    },
  };
}

export interface CheckedRecord {
  readonly record: StoredRelease;
  /** The agent has created it, and nobody has changed it. */
  readonly isOwn: boolean;
  /** It is as the agent has read it after a run that printed nothing: somebody may have changed it before that. */
  readonly isAsRead: boolean;
  /** As `isOwn` of its manifest, with any hooks. */
  readonly hasOwnManifest: boolean;
}

/** Whether Helm may run what a record has: an account limits what one does that was read. */
function mayRun({ isOwn, isAsRead, record }: CheckedRecord, { client }: Pick<Actor, "client">) {
  return isOwn || (isAsRead && (!client.isAgent || !hasHooks(record.content)));
}

/** Helm deletes what these list and the new revision does not: the last one, or the last that is deployed. */
function comparedRecords(records: readonly CheckedRecord[]): readonly CheckedRecord[] {
  return records.filter(({ record }, index) => index === 0 || record.status === "deployed");
}

/** By its status in the record, not the one in its labels, Helm decides to install in place of it: then it deletes nothing by it. */
function isInstalledOver({ record }: CheckedRecord): boolean {
  return record.status === "uninstalled";
}

/** The revision that Helm rolls back to when an upgrade fails. `records`: newest first. */
function rollbackTarget(records: readonly CheckedRecord[]): CheckedRecord | undefined {
  return records.find(({ record: { status } }) => status === "deployed" || status === "superseded");
}

/** The objects of a record. Undefined: a manifest that Helm may read differently. */
export type ObjectsOf = (record: StoredRelease) => Promise<readonly OwnedObject[] | undefined>;

/** What Helm would delete by records that are not the agent's own. */
export interface Foreign {
  /** In none of the agent's own records. */
  readonly objects: readonly OwnedObject[];
  /** They come from records that the agent has read: Helm has applied them, or somebody has added them. */
  readonly areAsRead: boolean;
}

/**
 * The objects in `used` that none of the agent's own records lists. Undefined: a manifest that Helm may read differently.
 */
export async function foreignObjects(
  records: readonly CheckedRecord[],
  used: readonly CheckedRecord[],
  objectsOf: ObjectsOf,
): Promise<Foreign | undefined> {
  const foreign = used.filter(({ hasOwnManifest }) => !hasOwnManifest);
  const areAsRead = foreign.every(({ isAsRead }) => isAsRead);
  if (foreign.length === 0) return { objects: [], areAsRead };
  const namesOf = async ({ record }: CheckedRecord) =>
    (await objectsOf(record))?.map((object) => objectName(object, record.namespace)) ?? [];
  const own = records.filter(({ hasOwnManifest }) => hasOwnManifest);
  const allowed = new Set((await Promise.all(own.map(namesOf))).flat());
  const found = new Map<string, OwnedObject>();
  for (const { record } of foreign) {
    const objects = await objectsOf(record);
    if (objects === undefined) return undefined;
    for (const object of objects) {
      const name = objectName(object, record.namespace);
      if (!allowed.has(name)) found.set(name, object);
    }
  }
  return { objects: [...found.values()], areAsRead };
}

function objectName({ apiVersion, kind, namespace: own, name }: OwnedObject, namespace: string) {
  const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0]}` : "";
  return `${kind}${group} ${own ?? namespace}/${name}`;
}

const listedObjects = 3;

interface Used {
  readonly records: readonly CheckedRecord[];
  /** Those that Helm deletes objects by. */
  readonly used: readonly CheckedRecord[];
}

async function throwIfForeign(
  objectsOf: ObjectsOf,
  release: ReleaseKey,
  { records, used }: Used,
  action: "uninstalled" | "upgraded",
  { client, signal }: Actor,
): Promise<void> {
  const { namespace, name } = release;
  const foreign = await foreignObjects(records, used, objectsOf);
  const unmarked =
    foreign?.areAsRead === true
      ? await unmarkedObjects(client.rest, release, foreign.objects, signal)
      : foreign?.objects;
  if (unmarked?.length === 0) return;
  const objects = unmarked?.map((object) => objectName(object, namespace));
  const revisions = used.flatMap(({ record, hasOwnManifest }) =>
    hasOwnManifest ? [] : [record.revision],
  );
  const what =
    objects === undefined
      ? "has a manifest that cannot be checked"
      : `lists objects that this agent never applied: ${objects.slice(0, listedObjects).join(", ")}${objects.length > listedObjects ? ` and ${objects.length - listedObjects} more` : ""}`;
  throw new AppError(
    agentErrors.RELEASE_NOT_OURS,
    `release ${namespace}/${name} is not ${action}: revision ${revisions.join(", ")}, which this agent did not create or somebody has changed, ${what}; no service account limits what Helm would delete. Nothing was changed. Delete the Secret of that revision, change forceSyncGeneration of the HelmOp, or request it with the annotation reconcile.fluxcd.io/forceAt, to continue`,
  );
}
