/**
 * Repositories of OCI registries: their tags and the charts behind them. Who asks at the same time shares the
 * requests; a tag that still points to the same manifest costs one HEAD request, which registries do not count.
 */
import type { Clock } from "../clock/clock.ts";
import { accessKey, type RepositoryAccess } from "./access.ts";
import { type ChartManifest, type ManifestQuery, readManifest, tagDigest } from "./oci-manifest.ts";
import type { OciRegistry } from "./oci-registry.ts";
import { listTags } from "./oci-tags.ts";
import { createRecent } from "./recent.ts";
import { createSharedTasks } from "./shared-task.ts";

export interface TagsQuery {
  readonly repository: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
  /** A list that the registry gave so recently is good enough. Zero asks it, or joins who is asking. */
  readonly maxAgeMs: number;
}

export interface ListedTags {
  readonly tags: readonly string[];
  /** When the registry was asked, on the monotonic clock. */
  readonly askedAt: number;
}

export interface OciRepositories {
  tags(query: TagsQuery): Promise<ListedTags>;
  /** Undefined when there is no such tag. */
  manifest(query: ManifestQuery): Promise<ChartManifest | undefined>;
}

const keptLists = 256;
const keptManifests = 4096;

export function createOciRepositories(deps: {
  readonly registry: OciRegistry;
  readonly clock: Clock;
}): OciRepositories {
  const lists = createRecent<ListedTags>(keptLists);
  const manifests = createRecent<ChartManifest>(keptManifests);
  const listing = createSharedTasks<ListedTags>();
  const reading = createSharedTasks<ChartManifest | undefined>();

  async function unchanged(key: string, query: ManifestQuery): Promise<ChartManifest | undefined> {
    const known = manifests.get(key);
    if (known === undefined) return undefined;
    return (await tagDigest(deps.registry, query)) === known.manifestDigest ? known : undefined;
  }

  return {
    async tags({ repository, access, signal, maxAgeMs }) {
      const key = `${accessKey(access)} ${repository}`;
      const known = lists.get(key);
      if (known !== undefined && maxAgeMs > 0 && deps.clock.monotonic() - known.askedAt <= maxAgeMs)
        return known;
      const listed = await listing.run(
        key,
        async (shared) => {
          const askedAt = deps.clock.monotonic();
          return {
            tags: await listTags(deps.registry, { repository, access, signal: shared }),
            askedAt,
          };
        },
        signal,
      );
      lists.set(key, listed);
      return listed;
    },

    manifest(query) {
      const key = `${accessKey(query.access)} ${query.repository}:${query.tag}`;
      return reading.run(
        key,
        async (signal) => {
          const manifest =
            (await unchanged(key, { ...query, signal })) ??
            (await readManifest(deps.registry, { ...query, signal }));
          if (manifest === undefined) manifests.delete(key);
          else manifests.set(key, manifest);
          return manifest;
        },
        query.signal,
      );
    },
  };
}
