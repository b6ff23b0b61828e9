/**
 * Which chart archives the clusters of a Bundle have installed, by the content that they run. If a source has no digest
 * each agent installs what it downloads, and this detects different archives. Pure.
 */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { ObjectKey } from "@flotilla/shared/kube/objects";

/** How many clusters run each archive, by content and digest. */
export type Archives = ReadonlyMap<string, ReadonlyMap<string, number>>;

export interface ArchiveCounts {
  /** A BundleDeployment of a Bundle was added (1) or removed (-1). */
  count(bundle: ObjectKey, deployment: BundleDeployment, by: 1 | -1): void;
  of(bundle: ObjectKey): Archives;
}

const noArchives: Archives = new Map();

/** More are only counted: such a source returns another archive on each request. */
const digestsNamed = 3;

export function createArchiveCounts(): ArchiveCounts {
  const bundles = new Map<ObjectKey, Map<string, Map<string, number>>>();
  return {
    count(bundle, { status }, by) {
      const content = status?.appliedDeploymentID ?? "";
      // What agents build of a bucket may differ between their versions; what they received does not.
      const digest = status?.source?.digest ?? status?.chartDigest ?? "";
      if (content === "" || digest === "") return;
      const contents = entryOf(bundles, bundle);
      const digests = entryOf(contents, content);
      const count = (digests.get(digest) ?? 0) + by;
      if (count > 0) digests.set(digest, count);
      else digests.delete(digest);
      if (digests.size === 0) contents.delete(content);
      if (contents.size === 0) bundles.delete(bundle);
    },
    of: (bundle) => bundles.get(bundle) ?? noArchives,
  };
}

/**
 * The remark when clusters got different archives from one address; undefined when they did not. `unchecked` has the
 * address by content, for contents whose chart has no digest to be verified with.
 */
export function differingArchives(
  archives: Archives,
  unchecked: Readonly<Record<string, string>>,
): string | undefined {
  const byAddress = new Map<string, Map<string, number>>();
  for (const [content, address] of Object.entries(unchecked)) {
    const total = entryOf(byAddress, address);
    for (const [digest, count] of archives.get(content) ?? [])
      total.set(digest, (total.get(digest) ?? 0) + count);
  }
  const sentences = [...byAddress]
    .filter(([, digests]) => digests.size > 1)
    .map(
      ([address, digests]) =>
        `clusters got different archives of ${address}, ${describeDigests(digests)}`,
    );
  return sentences.length === 0
    ? undefined
    : `${sentences.join("; ")}; its source gives no digest to check them against: publish it under a version of its own, an archive in an index with digests`;
}

/** The most frequent first. */
function describeDigests(digests: ReadonlyMap<string, number>): string {
  const sorted = [...digests].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const named = sorted
    .slice(0, digestsNamed)
    .map(([digest, count]) => `${digest} in ${count === 1 ? "1 cluster" : `${count} clusters`}`);
  const more = sorted.length - named.length;
  return `${named.join(" and ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function entryOf<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = new Map<string, V>();
  map.set(key, fresh);
  return fresh;
}
