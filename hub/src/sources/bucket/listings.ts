/** Lists of buckets as they were read last, so that a list serves all charts of a Bucket. */
import { createLruCache } from "@flotilla/shared/cache";
import { createFairSemaphore } from "@flotilla/shared/concurrency";
import type { Bucket } from "@flotilla/shared/flux";
import type { Enqueue, Watch } from "@flotilla/shared/kube/controller";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { RepositoryAccess } from "@flotilla/shared/source";
import {
  type BucketClient,
  type BucketListing,
  type BucketLocation,
  bucketAddress,
} from "@flotilla/shared/source/bucket";
import { noSourceArtifact } from "../fluxsource/source-error.ts";

export interface ListRequest {
  readonly location: BucketLocation;
  readonly access: RepositoryAccess;
  readonly signal: AbortSignal;
}

export interface BucketListings {
  /** Requests the list. */
  read(bucket: Bucket, request: ListRequest): Promise<BucketListing>;
  /** The list with that revision. Throws a SourceError when the bucket has another one by now, which `changed` reports. */
  at(bucket: Bucket, revision: string, request: ListRequest): Promise<BucketListing>;
  /** The objects are no longer as in the Bucket's revision: it is to be listed again before its interval ends. */
  changed(bucket: Bucket): void;
  /** Whether that was reported since the bucket was listed. */
  isChanged(bucket: Bucket): boolean;
  /** The Buckets that it is reported of. */
  readonly changes: Watch;
}

/** More than `spec.timeout` may be; the caller's signal ends it earlier. */
export const requestTimeoutMs = 5 * 60_000;
const maxListings = 256;
/** Objects of all lists together: some hundred bytes each. */
const maxObjects = 100_000;
/**
 * Lists that are read at the same time, of one namespace a quarter: each may have 16 MiB, a page and 50,000 objects. Apart from what is
 * read of files, so that a bucket that responds slowly holds up no Git repository.
 */
const concurrentLists = { capacity: 8, share: 2 };

export function createBucketListings(client: Pick<BucketClient, "list">): BucketListings {
  const lists = createFairSemaphore(concurrentLists);
  const known = createLruCache<BucketListing>(maxListings, {
    maxWeight: maxObjects,
    weightOf: ({ objects }) => objects.length,
  });

  const changed = createLruCache<true>(maxListings);
  const listeners = new Set<Enqueue>();

  function report(bucket: Bucket): void {
    changed.set(bucket.metadata.uid ?? "", true);
    for (const enqueue of listeners) enqueue(keyOf(bucket));
  }

  async function read(bucket: Bucket, { location, access, signal }: ListRequest) {
    // A change during the request is reported again.
    changed.delete(bucket.metadata.uid ?? "");
    const caller = bucket.metadata.namespace ?? "";
    const listing = await lists.run({ caller, signal }, () =>
      client.list(location, access, { signal, timeoutMs: requestTimeoutMs }),
    );
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
      report(bucket);
      throw noSourceArtifact(
        `bucket ${bucketAddress(request.location)} now has ${listing.digest}, not ${revision}; continuing as soon as the Bucket has read it`,
      );
    },
    changed: report,
    isChanged: ({ metadata }) => changed.get(metadata.uid ?? "") === true,
    changes: {
      start(enqueue) {
        listeners.add(enqueue);
        return () => void listeners.delete(enqueue);
      },
    },
  };
}
