/**
 * Checks what Helm is about to read: it deletes objects and runs hooks by its records, which everybody can write who may write
 * Secrets in the namespace of a release (docs/adr/0025).
 */
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../errors/index.ts";
import type { ReleaseKey, StoredReleases } from "../helm/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import type { Inventory } from "../inventory/index.ts";
import {
  type HelmRelease,
  hasManifestOf,
  isSameContent,
  type OwnedObject,
  type ReadRecords,
} from "../record/index.ts";

/** In whose name Helm acts. */
export interface Actor {
  readonly client: ImpersonatedClient;
  /** A user has requested to go on with records that are not the agent's. */
  readonly isForced: boolean;
}

export interface RecordGuard {
  /** Whether the hooks of the release may run. Throws RELEASE_NOT_OURS. */
  beforeUninstall(release: ReleaseKey, actor: Actor): Promise<{ readonly withoutHooks: boolean }>;
  /** Whether the tests of the newest revision may run, which are hooks of its record. */
  beforeTests(release: ReleaseKey, revision: number): Promise<{ readonly mayRun: boolean }>;
  /** Whether Helm may roll back if the upgrade fails. Throws RELEASE_NOT_OURS. */
  beforeUpgrade(release: ReleaseKey, actor: Actor): Promise<{ readonly mayRollBack: boolean }>;
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
      const known = isNamed ? inventory.revisionOf(release, record.revision)?.content : undefined;
      return {
        record,
        isOwn: isSameContent(known, record),
        hasOwnManifest: known !== undefined && hasManifestOf(known, record),
      };
    });
  }

  const namesOf: NamesOf = async (record) => {
    const objects = await reading.manifest(record, "exactObjects");
    return objects?.map((object) => objectName(object, record.namespace));
  };

  return {
    async beforeUninstall(release, actor) {
      const records = await read(release);
      const [latest] = records;
      if (latest === undefined) return { withoutHooks: true };
      if (!actor.isForced && actor.client.isAgent)
        await throwIfForeign(namesOf, release, records, [latest], "uninstalled");
      return { withoutHooks: !latest.isOwn };
    },
    async beforeTests(release, revision) {
      const [latest] = await read(release);
      return { mayRun: latest?.isOwn === true && latest.record.revision === revision };
    },
    async beforeUpgrade(release, actor) {
      const records = await read(release);
      if (!actor.isForced && actor.client.isAgent)
        await throwIfForeign(namesOf, release, records, comparedRecords(records), "upgraded");
      const target = rollbackTarget(records);
      return { mayRollBack: target === undefined || target.isOwn };
    },
  };
}

export interface CheckedRecord {
  readonly record: HelmRelease;
  /** The agent has created it, and nobody has changed it. */
  readonly isOwn: boolean;
  /** The same of its manifest, with any hooks. */
  readonly hasOwnManifest: boolean;
}

/** Helm deletes what these list and the new revision does not: the last one, or the last that is deployed. */
function comparedRecords(records: readonly CheckedRecord[]): readonly CheckedRecord[] {
  return records.filter(({ record }, index) => index === 0 || record.status === "deployed");
}

/** The revision that Helm rolls back to when an upgrade fails. `records`: newest first. */
function rollbackTarget(records: readonly CheckedRecord[]): CheckedRecord | undefined {
  return records.find(({ record: { status } }) => status === "deployed" || status === "superseded");
}

/** The names of the objects of a record. Undefined: a manifest that Helm may read differently. */
export type NamesOf = (record: HelmRelease) => Promise<readonly string[] | undefined>;

/**
 * The objects in `used` that none of the agent's own records lists. Undefined: a manifest that Helm may read differently.
 */
export async function foreignObjects(
  records: readonly CheckedRecord[],
  used: readonly CheckedRecord[],
  namesOf: NamesOf,
): Promise<readonly string[] | undefined> {
  const foreign = used.filter(({ hasOwnManifest }) => !hasOwnManifest);
  if (foreign.length === 0) return [];
  const own = records.filter(({ hasOwnManifest }) => hasOwnManifest);
  const known = await Promise.all(own.map(({ record }) => namesOf(record)));
  const allowed = new Set(known.flatMap((names) => names ?? []));
  const found: string[] = [];
  for (const { record } of foreign) {
    const names = await namesOf(record);
    if (names === undefined) return undefined;
    found.push(...names.filter((name) => !allowed.has(name)));
  }
  return [...new Set(found)];
}

function objectName({ apiVersion, kind, namespace: own, name }: OwnedObject, namespace: string) {
  const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0]}` : "";
  return `${kind}${group} ${own ?? namespace}/${name}`;
}

const listedObjects = 3;

async function throwIfForeign(
  namesOf: NamesOf,
  { namespace, name }: ReleaseKey,
  records: readonly CheckedRecord[],
  used: readonly CheckedRecord[],
  action: "uninstalled" | "upgraded",
): Promise<void> {
  const objects = await foreignObjects(records, used, namesOf);
  if (objects?.length === 0) return;
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
