/**
 * Charts of OCI registries: versions from tags, pins from manifests. A tag that still points to the cached manifest
 * costs one HEAD request, which registries do not count against their limits.
 */
import type { Clock } from "../../../runtime/time/index.ts";
import {
  accessKey,
  chartErrors,
  type OciLocation,
  type OciPin,
  type Source,
  type SourceRequest,
} from "../index.ts";
import { createSharedRequests, receiveArchive } from "../transport/index.ts";
import { type ChartManifest, readManifest, tagDigest } from "./manifest.ts";
import type { OciRegistry } from "./registry.ts";
import type { ListTags } from "./tags.ts";

/** The limit of all lists that are kept, some hundred bytes each. */
const maxKnownTags = 300_000;

export interface OciSource extends Source<OciLocation, OciPin> {
  /** The chart behind a tag; undefined when the repository has no such tag. */
  pinTag(repository: string, tag: string, request: SourceRequest): Promise<OciPin | undefined>;
}

export function createOciSource(deps: {
  readonly registry: OciRegistry;
  readonly listTags: ListTags;
  readonly clock: Clock;
}): OciSource {
  const { registry, listTags, clock } = deps;
  const tagLists = createSharedRequests<readonly string[]>({
    clock,
    maxResults: 256,
    maxFailures: 1024,
    limit: { maxWeight: maxKnownTags, weightOf: (tags) => tags.length },
  });
  const manifests = createSharedRequests<ChartManifest | undefined>({
    clock,
    maxResults: 4096,
    maxFailures: 1024,
  });

  async function pinTag(
    repository: string,
    tag: string,
    { access, ...request }: SourceRequest,
  ): Promise<OciPin | undefined> {
    const key = `${accessKey(access)} ${repository}:${tag}`;
    const accepts = (known: ChartManifest | undefined): boolean => known !== undefined;
    const manifest = await manifests.get(key, { ...request, accepts }, async (signal) => {
      const query = { repository, tag, access, signal };
      const known = manifests.latest(key);
      const isUnchanged =
        known !== undefined && (await tagDigest(registry, query)) === known.manifestDigest;
      return isUnchanged ? known : await readManifest(registry, query);
    });
    return (
      manifest && { kind: "oci", version: tag.replaceAll("_", "+"), repository, tag, ...manifest }
    );
  }

  return {
    pinsUnlisted: true,
    async list({ repository }, { access, ...request }) {
      const key = `${accessKey(access)} ${repository}`;
      const tags = await tagLists.get(key, request, (signal) =>
        listTags({ repository, access, signal }),
      );
      return {
        rules: "tags",
        versions: tags.map((version) => ({ version })),
        problems: [],
        listedBy: "the registry",
      };
    },
    async pin({ repository }, version, request) {
      const pin = await pinTag(repository, version.replaceAll("+", "_"), request);
      return pin && { pin, problems: [] };
    },
    pinTag,
    async fetch(pin, write, request) {
      const { access, signal, timeoutMs } = request;
      const response = await registry.send({
        method: "GET",
        repository: pin.repository,
        target: `blobs/${pin.layerDigest}`,
        access,
        signal,
        timeoutMs,
        errorKind: chartErrors.CHART_DOWNLOAD,
      });
      return await receiveArchive(response, pin, write, request);
    },
  };
}
