/**
 * Repositories of OCI registries: their tags and the charts behind them. Who asks at the same time shares the
 * requests; a tag that still points to the same manifest costs one HEAD request, which registries do not count.
 */

import { createSingleFlight } from "../concurrency/single-flight.ts";
import type { Clock } from "../time/clock.ts";
import { accessKey, type RepositoryAccess } from "./access.ts";
import { type ChartManifest, type ManifestQuery, readManifest, tagDigest } from "./oci-manifest.ts";
import type { OciRegistry } from "./oci-registry.ts";
import { listTags } from "./oci-tags.ts";
import { createRecent } from "./recent.ts";
import { createRecentFailures } from "./recent-failures.ts";

export interface TagsQuery {
  readonly repository: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
  /** What it was asked since then (monotonic) is good enough, failures too. Absent: it is asked, or who is asking is joined. */
  readonly since?: number | undefined;
  /** An attempt that is under way is joined by who names the same; absent: by everybody who names none. */
  readonly occasion?: string | undefined;
}

export interface ListedTags {
  readonly tags: readonly string[];
  /** On the monotonic clock. */
  readonly askedAt: number;
}

export interface OciRepositories {
  tags(query: TagsQuery): Promise<ListedTags>;
  /** Undefined when there is no such tag. `since` and `occasion` as for tags. */
  manifest(
    query: ManifestQuery & Pick<TagsQuery, "since" | "occasion">,
  ): Promise<ChartManifest | undefined>;
}

interface KeptManifest {
  readonly manifest: ChartManifest;
  readonly askedAt: number;
}

const keptLists = 256;
const keptManifests = 4096;
const keptFailures = 1024;

export function createOciRepositories(deps: {
  readonly registry: OciRegistry;
  readonly clock: Clock;
}): OciRepositories {
  const lists = createRecent<ListedTags>(keptLists);
  const manifests = createRecent<KeptManifest>(keptManifests);
  const listing = createSingleFlight<ListedTags>();
  const reading = createSingleFlight<ChartManifest | undefined>();
  const failures = createRecentFailures(deps.clock, keptFailures);

  async function unchanged(key: string, query: ManifestQuery): Promise<ChartManifest | undefined> {
    const known = manifests.get(key)?.manifest;
    if (known === undefined) return undefined;
    return (await tagDigest(deps.registry, query)) === known.manifestDigest ? known : undefined;
  }

  return {
    async tags({ repository, access, signal, since, occasion }) {
      const key = `${accessKey(access)} ${repository}`;
      const known = lists.get(key);
      if (known !== undefined && since !== undefined && known.askedAt >= since) return known;
      failures.throwKnown(key, since);
      const listed = await listing.run(
        `${key} ${occasion ?? ""}`,
        failures.watch(key, async (shared) => {
          const askedAt = deps.clock.monotonic();
          return {
            tags: await listTags(deps.registry, { repository, access, signal: shared }),
            askedAt,
          };
        }),
        signal,
      );
      // One that was begun earlier may end later.
      if ((lists.get(key)?.askedAt ?? 0) <= listed.askedAt) lists.set(key, listed);
      return listed;
    },

    async manifest({ since, occasion, ...query }) {
      const key = `${accessKey(query.access)} ${query.repository}:${query.tag}`;
      const known = manifests.get(key);
      if (known !== undefined && since !== undefined && known.askedAt >= since)
        return known.manifest;
      failures.throwKnown(key, since);
      return reading.run(
        `${key} ${occasion ?? ""}`,
        failures.watch(key, async (signal) => {
          const askedAt = deps.clock.monotonic();
          const manifest =
            (await unchanged(key, { ...query, signal })) ??
            (await readManifest(deps.registry, { ...query, signal }));
          if (manifest === undefined) manifests.delete(key);
          else manifests.set(key, { manifest, askedAt });
          return manifest;
        }),
        query.signal,
      );
    },
  };
}
