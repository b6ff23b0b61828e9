/** What Helm has stored and installed in a cluster. Releases are in a namespace of their own name unless said otherwise. */
import { type ConfigMap, configMaps, type ObjectRef, secrets } from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "./cluster-client.ts";
import { waitForObject, waitUntilGone } from "./wait.ts";

/** One of the Secrets that Helm keeps of a release, one for each revision. */
export interface ReleaseRecord {
  /** The name of the Secret. */
  readonly name: string;
  readonly uid: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly release: string;
  readonly revision: number;
  readonly status: string;
}

/** All of a namespace, or of one release in it; by release and revision. */
export async function releaseRecords(
  client: ClusterClient,
  namespace: string,
  release?: string,
): Promise<readonly ReleaseRecord[]> {
  const labelSelector = release === undefined ? "owner=helm" : `owner=helm,name=${release}`;
  const items = await client.reader.list(secrets, { namespace, labelSelector });
  return items
    .map(({ metadata: { name, uid, labels = {} } }) => ({
      name,
      uid,
      labels,
      release: labels["name"] ?? "",
      revision: Number(labels["version"]),
      status: labels["status"] ?? "",
    }))
    .toSorted((a, b) => a.release.localeCompare(b.release) || a.revision - b.revision);
}

/** `REVISION STATUS` of each of Helm's records in a namespace. */
export async function releaseHistory(
  client: ClusterClient,
  namespace: string,
): Promise<readonly string[]> {
  const records = await releaseRecords(client, namespace);
  return records.map(({ revision, status }) => `${revision} ${status}`);
}

/** How often Helm has installed or upgraded a release; 0 when it is not there. */
export async function lastRevision(client: ClusterClient, release: string): Promise<number> {
  return (await releaseRecords(client, release, release)).at(-1)?.revision ?? 0;
}

/** Waits for a revision of a release, by default in any status. */
export async function waitForRevision(
  client: ClusterClient,
  release: string,
  revision: number,
  status?: string,
  namespace = release,
): Promise<void> {
  await waitForObject(
    client,
    secrets,
    { namespace, name: `sh.helm.release.v1.${release}.v${revision}` },
    status ?? "stored",
    ({ metadata: { labels } }) => status === undefined || labels?.["status"] === status,
  );
}

/** The ConfigMap that a release of `configChart` has made; one that was never uninstalled keeps its UID. */
export function installedConfig(
  client: ClusterClient,
  release: string,
  namespace = release,
): Promise<ConfigMap | undefined> {
  return client.reader.get(configMaps, configRef(release, namespace));
}

/** Resolves when that ConfigMap is gone. */
export async function waitUntilUninstalled(client: ClusterClient, release: string): Promise<void> {
  await waitUntilGone(client, configMaps, configRef(release, release));
}

function configRef(release: string, namespace: string): ObjectRef {
  return { namespace, name: `${release}-config` };
}
