/** Lists of buckets as they were read last, so that a list serves all charts of a Bucket. */
import { createLruCache } from "@flotilla/shared/cache";
import type { Bucket } from "@flotilla/shared/flux";
import type { RepositoryAccess } from "@flotilla/shared/source";
import {
  type BucketClient,
  type BucketListing,
  type BucketLocation,
  bucketAddress,
} from "@flotilla/shared/source/bucket";
import { noSourceArtifact } from "../fluxsource/index.ts";

export interface ListRequest {
  readonly location: BucketLocation;
  readonly access: RepositoryAccess;
  readonly signal: AbortSignal;
}

export interface BucketListings {
  /** Requests the list. */
  read(bucket: Bucket, request: ListRequest): Promise<BucketListing>;
  /** The list with that revision. Throws a SourceError when the bucket has another one by now. */
  at(bucket: Bucket, revision: string, request: ListRequest): Promise<BucketListing>;
}

/** Of `spec.timeout` at most; the caller's signal ends it earlier. */
export const requestTimeoutMs = 5 * 60_000;
const maxListings = 256;
/** Objects of all lists together: some hundred bytes each. */
const maxObjects = 100_000;

export function createBucketListings(client: Pick<BucketClient, "list">): BucketListings {
  const known = createLruCache<BucketListing>(maxListings, {
    maxWeight: maxObjects,
    weightOf: ({ objects }) => objects.length,
  });

  async function read(bucket: Bucket, { location, access, signal }: ListRequest) {
    const listing = await client.list(location, access, { signal, timeoutMs: requestTimeoutMs });
    known.set(bucket.metadata.uid ?? "", listing);
    return listing;
  }

  return {
    read,
    async at(bucket, revision, request) {
      const last = known.get(bucket.metadata.uid ?? "");
      if (last?.digest === revision) return last;
      const listing = await read(bucket, request);
      if (listing.digest === revision) return listing;
      throw noSourceArtifact(
        `bucket ${bucketAddress(request.location)} now has ${listing.digest}, not ${revision}; continuing as soon as the Bucket has read it`,
      );
    },
  };
}
