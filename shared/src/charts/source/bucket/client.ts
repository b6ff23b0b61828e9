/**
 * The client of buckets: lists the objects that a Bucket has, reads one, and writes all of a pin to a directory. It speaks the
 * part of S3 that every server of it has.
 */
import { AppError } from "../../../runtime/errors/index.ts";
import type { Clock } from "../../../runtime/time/index.ts";
import type { BucketPin, RepositoryAccess } from "../index.ts";
import type { Exchanger } from "../transport/index.ts";
import { writeObjects } from "./checkout.ts";
import { bucketErrors } from "./errors.ts";
import { type BucketLimits, type BucketListing, listObjects } from "./list-objects.ts";
import { type BucketLocation, bucketAddress } from "./location.ts";
import { objectPaths } from "./object-path.ts";
import { readRaw } from "./read-raw.ts";
import { type BucketCall, BucketRequests, type Deadline, objectChanged } from "./requests.ts";

export interface BucketRequest {
  readonly signal?: AbortSignal | undefined;
  /** For the whole call. */
  readonly timeoutMs: number;
}

export interface BucketClientDeps {
  readonly exchange: Exchanger;
  readonly clock: Pick<Clock, "now">;
  readonly limits?: BucketLimits | undefined;
}

const defaultBucketLimits: BucketLimits = {
  maxObjects: 50_000,
  maxBytes: 256 * 1024 * 1024,
};

const concurrentReads = 8;

/** Keeps nothing of a bucket but its region, so calls may run at the same time, and a failed one may be repeated. */
export class BucketClient {
  readonly #requests: BucketRequests;
  readonly #limits: BucketLimits;

  constructor(deps: BucketClientDeps) {
    this.#requests = new BucketRequests(deps);
    this.#limits = deps.limits ?? defaultBucketLimits;
  }

  /** Without what is ignored. Rejects with BUCKET_TOO_LARGE beyond a limit, and with a RepositoryError of the server's response. */
  list(
    location: BucketLocation,
    access: RepositoryAccess,
    request: BucketRequest,
  ): Promise<BucketListing> {
    return this.#list({ location, access, limit: deadlineOf(request) });
  }

  /**
   * The bytes of an object; undefined: there is none of this key. With `etag`, another one is BUCKET_CHANGED; more than
   * `maxBytes` are BUCKET_TOO_LARGE.
   */
  async readObject(
    location: BucketLocation,
    object: { readonly key: string; readonly etag?: string; readonly maxBytes: number },
    access: RepositoryAccess,
    request: BucketRequest,
  ): Promise<Uint8Array | undefined> {
    const { maxBytes, ...ref } = object;
    const call = { location, access, limit: deadlineOf(request) };
    const response = await this.#requests.read(call, ref);
    if (response === undefined) return undefined;
    return await readRaw(response, { maxBytes, tooLarge: bucketErrors.BUCKET_TOO_LARGE });
  }

  /**
   * Writes the objects of a pin below an existing, empty directory, and resolves with the digest of their bytes. Rejects with
   * BUCKET_CHANGED when they are no longer its own. After a failure the directory has some of them: its owner removes it.
   */
  async checkout(
    pin: BucketPin,
    dir: string,
    access: RepositoryAccess,
    request: BucketRequest,
  ): Promise<string> {
    const call = { location: pin, access, limit: deadlineOf(request) };
    const { digest, objects } = await this.#list(call);
    if (digest !== pin.digest)
      throw new AppError(
        bucketErrors.BUCKET_CHANGED,
        `bucket ${bucketAddress(pin)} now has ${digest}, not ${pin.digest} that the chart was resolved from: the hub resolves it again when the version in Chart.yaml is raised, or with reconcileStrategy Revision`,
      );
    return await writeObjects(objectPaths(objects), dir, {
      concurrency: concurrentReads,
      open: async (object, signal) => {
        const limit = { ...call.limit, signal };
        const response = await this.#requests.read({ ...call, limit }, object);
        if (response === undefined) throw objectChanged(pin, object.key);
        return response;
      },
      signal: call.limit.signal,
    });
  }

  #list(call: BucketCall): Promise<BucketListing> {
    return listObjects(this.#requests, call, this.#limits);
  }
}

function deadlineOf({ signal, timeoutMs }: BucketRequest): Deadline {
  const endsAt = performance.now() + timeoutMs;
  return { signal, leftMs: () => Math.max(1, Math.round(endsAt - performance.now())) };
}
