/** What Helm has of a release, read when it is needed: with all its revisions, and the manifest that the next one replaces. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { secrets } from "@flotilla/shared/kube/objects";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  helmOwnerSelector,
  knownRecord,
  type ReadRecords,
  type ReleaseKey,
  type ReleaseRecord,
  recordOf,
  type StoredRelease,
  secretText,
  storedValue,
} from "../../helm/index.ts";
import type { InventoryReader } from "../../state/index.ts";

export interface InstalledRelease {
  /** The newest revision; undefined: there is none. */
  readonly latest: ReleaseRecord | undefined;
  /** All revisions. */
  readonly history: readonly ReleaseRecord[];
  /** The revision that Helm replaces, and the objects of its manifest; undefined: Helm installs. */
  readonly base?: {
    readonly release: StoredRelease;
    readonly objects: readonly KubeObject[];
  };
}

/** Beyond it nothing is planned: ten revisions with the largest manifests. */
const maxBytes = 32 * 1024 * 1024;

/** Throws RELEASE_UNREADABLE, LIMIT_EXCEEDED and errors of the API server. */
export async function readInstalled(
  {
    records,
    inventory,
  }: {
    readonly records: Pick<ReadRecords, "stored" | "wholeObjects">;
    readonly inventory: InventoryReader;
  },
  client: Pick<ImpersonatedClient, "watch">,
  { namespace, name }: ReleaseKey,
  signal: AbortSignal,
): Promise<InstalledRelease> {
  const labelSelector = `${helmOwnerSelector},name=${name}`;
  const { rest } = client.watch;
  const { items } = await rest.list(secrets, { namespace, labelSelector, maxBytes, signal });
  const found = items.flatMap((secret) => {
    const record = recordOf(secret);
    return record === undefined ? [] : [{ secret, record: knownRecord(record, inventory) }];
  });
  const history = found.map(({ record }) => record);
  const replaced = replacedRecord(history);
  const secret = found.find(({ record }) => record === replaced)?.secret;
  const latest = newestOf(history);
  if (secret === undefined) return { latest, history };
  const release = await records.stored(storedValue(secret), secretText(secret));
  return { latest, history, base: { release, objects: await records.wholeObjects(release) } };
}

/** The revision whose objects Helm deletes if the next one has not got them. Pure. */
export function replacedRecord(history: readonly ReleaseRecord[]): ReleaseRecord | undefined {
  const latest = newestOf(history);
  if (latest === undefined || latest.status === "uninstalled") return undefined;
  if (latest.status === "deployed") return latest;
  return newestOf(history.filter(({ status }) => status === "deployed")) ?? latest;
}

function newestOf(records: readonly ReleaseRecord[]): ReleaseRecord | undefined {
  return records.toSorted((a, b) => b.revision - a.revision)[0];
}
