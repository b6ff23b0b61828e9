/**
 * The client of buckets: lists the objects that a Bucket has, reads one, and writes all of a pin to a directory. It speaks the
 * part of S3 that every server of it has: signed GETs (version 4), anonymous without credentials.
 */
import { createLruCache } from "../../cache/index.ts";
import { createTimeSlices } from "../../concurrency/index.ts";
import { AppError } from "../../errors/index.ts";
import type { Clock } from "../../time/index.ts";
import { createIgnore, ignoreFileName, maxIgnoreBytes } from "../ignore/index.ts";
import type { BucketPin, RepositoryAccess } from "../index.ts";
import { abandon, describeBytes, type Exchange, type Exchanger } from "../transport/index.ts";
import { writeObjects } from "./checkout.ts";
import { bucketErrors } from "./errors.ts";
import { type BucketObject, objectsDigest, parsePage, sortedByKey } from "./listing.ts";
import { type BucketLocation, bucketAddress, regionOf, requestUrl } from "./location.ts";
import { checkKeyLength, objectPaths } from "./object-path.ts";
import { readRaw } from "./read-raw.ts";
import { failureError, readFailure, type S3Failure } from "./response.ts";
import { signRequest } from "./signature.ts";

export interface BucketLimits {
  /** Of the list, those that are ignored included. */
  readonly maxObjects: number;
  /** Of all objects together, without those that are ignored. */
  readonly maxBytes: number;
}

export interface BucketRequest {
  readonly signal?: AbortSignal | undefined;
  /** For the whole call. */
  readonly timeoutMs: number;
}

export interface BucketListing {
  /** Flux's revision: over the keys and ETags of the objects. */
  readonly digest: string;
  /** In the order of their keys, without those that are ignored. */
  readonly objects: readonly BucketObject[];
  readonly sizeBytes: number;
}

export interface BucketClient {
  list(
    location: BucketLocation,
    access: RepositoryAccess,
    request: BucketRequest,
  ): Promise<BucketListing>;
  /** The bytes of an object; undefined: there is none of this key. With `etag`, another one is BUCKET_CHANGED. */
  readObject(
    location: BucketLocation,
    object: { readonly key: string; readonly etag?: string; readonly maxBytes: number },
    access: RepositoryAccess,
    request: BucketRequest,
  ): Promise<Uint8Array | undefined>;
  /**
   * Writes the objects of a pin below an existing, empty directory, and resolves with the digest of their bytes. Rejects with
   * BUCKET_CHANGED when they are no longer its own.
   */
  checkout(
    pin: BucketPin,
    dir: string,
    access: RepositoryAccess,
    request: BucketRequest,
  ): Promise<string>;
}

export const defaultBucketLimits: BucketLimits = {
  maxObjects: 50_000,
  maxBytes: 256 * 1024 * 1024,
};

/** Of a thousand keys, each at most 1 KiB and three times that when it is encoded. */
const maxPageBytes = 4 * 1024 * 1024;
const maxKnownRegions = 1_000;
const concurrentReads = 8;

export function createBucketClient(deps: {
  readonly exchange: Exchanger;
  readonly clock: Pick<Clock, "now">;
  readonly limits?: BucketLimits | undefined;
}): BucketClient {
  const { exchange, clock, limits = defaultBucketLimits } = deps;
  /** Of buckets whose region only the server knows. */
  const regions = createLruCache<string>(maxKnownRegions);

  interface Get {
    readonly location: BucketLocation;
    readonly access: RepositoryAccess;
    readonly key?: string;
    readonly query?: Readonly<Record<string, string>>;
    readonly etag?: string | undefined;
    readonly limit: Deadline;
  }

  /** A response of status 200, or what the other one says. */
  async function get(request: Get): Promise<Exchange | Failed> {
    const address = bucketAddress(request.location);
    const configured = regionOf(request.location);
    const isFixed = (request.location.region ?? "") !== "";
    const region = (isFixed ? undefined : regions.get(address)) ?? configured;
    const first = await getIn(request, region);
    if (!("refused" in first)) return first;
    const actual = first.refused.region;
    if (isFixed || actual === undefined || actual === region) return first;
    const second = await getIn(request, actual);
    if (!("refused" in second)) regions.set(address, actual);
    return second;
  }

  async function getIn(
    { location, access, limit, etag, ...target }: Get,
    region: string,
  ): Promise<Exchange | Failed> {
    const url = requestUrl(location, region, target);
    const { username: accessKey, password: secretKey } = access;
    const others = etag === undefined ? undefined : { "if-match": `"${etag}"` };
    const signed =
      accessKey === undefined || secretKey === undefined
        ? undefined
        : signRequest({ url, region, nowMs: clock.now() }, { accessKey, secretKey }, others);
    const response = await exchange({
      method: "GET",
      url,
      // Amazon has a bucket at a host of its own.
      access: { ...access, origin: url.origin },
      authorization: signed?.authorization,
      headers: signed?.headers ?? others ?? {},
      timeoutMs: limit.leftMs(),
      signal: limit.signal,
      errorKind: bucketErrors.BUCKET_REQUEST,
      what: `${target.key === undefined ? "list" : `read ${JSON.stringify(target.key)} of`} bucket ${bucketAddress(location)}`,
    });
    if (response.status === 200) return response;
    return { response, refused: await readFailure(response) };
  }

  async function listAll(
    location: BucketLocation,
    access: RepositoryAccess,
    limit: Deadline,
  ): Promise<readonly BucketObject[]> {
    const objects: BucketObject[] = [];
    let continuation: string | undefined;
    do {
      const query = {
        "list-type": "2",
        "encoding-type": "url",
        "max-keys": "1000",
        prefix: location.prefix ?? "",
        ...(continuation !== undefined && { "continuation-token": continuation }),
      };
      const response = await get({ location, access, query, limit });
      if ("refused" in response) throw failureError(response.response, access, response.refused);
      const bytes = await readRaw(response, {
        maxBytes: maxPageBytes,
        tooLarge: bucketErrors.BUCKET_REQUEST,
      });
      const page = pageOf(response, bytes);
      if (page.continuation !== undefined && page.continuation === continuation)
        throw new AppError(
          bucketErrors.BUCKET_REQUEST,
          `${response.request}: the list of the bucket does not end`,
        );
      for (const object of page.objects) checkKeyLength(object);
      objects.push(...page.objects);
      if (objects.length > limits.maxObjects)
        throw new AppError(
          bucketErrors.BUCKET_TOO_LARGE,
          `bucket ${bucketAddress(location)} has more than ${limits.maxObjects} objects${underPrefix(location)}`,
        );
      ({ continuation } = page);
    } while (continuation !== undefined);
    return objects;
  }

  async function read(
    object: { readonly key: string; readonly etag?: string | undefined },
    { location, access, limit }: Omit<Get, "key" | "query" | "etag">,
  ): Promise<Exchange | undefined> {
    const response = await get({ location, access, limit, ...object });
    if (!("refused" in response)) {
      // A server that does not know If-Match sends what it has.
      const etag = response.header("etag")?.replace(/^(?:W\/)?"|"$/g, "");
      if (object.etag === undefined || etag === undefined || etag === object.etag) return response;
      abandon(response.body);
      throw changed(location, object.key);
    }
    const { status, code } = response.refused;
    if (status === 412) throw changed(location, object.key);
    if (status === 404 && (code === "NoSuchKey" || code === "")) return undefined;
    throw failureError(response.response, access, response.refused);
  }

  async function list(
    location: BucketLocation,
    access: RepositoryAccess,
    limit: Deadline,
  ): Promise<BucketListing> {
    const all = await listAll(location, access, limit);
    const rules = createIgnore({
      kind: "bucket",
      ignore: location.ignore,
      files: await ignoreFiles(location, all, access, limit),
    });
    const kept: BucketObject[] = [];
    // A thousand patterns on all keys of a large bucket take seconds.
    const slices = createTimeSlices();
    for (const object of all) {
      if (slices.isOver) await slices.pause();
      const { key } = object;
      if (!key.endsWith("/") && key !== ignoreFileName && !(await rules.ignores(key, slices)))
        kept.push(object);
    }
    const objects = sortedByKey(kept);
    objectPaths(objects);
    const sizeBytes = objects.reduce((sum, object) => sum + object.sizeBytes, 0);
    if (sizeBytes > limits.maxBytes)
      throw new AppError(
        bucketErrors.BUCKET_TOO_LARGE,
        `bucket ${bucketAddress(location)} has ${describeBytes(sizeBytes)}${underPrefix(location)}, more than ${describeBytes(limits.maxBytes)}`,
      );
    return { digest: objectsDigest(objects), objects, sizeBytes };
  }

  /** `.sourceignore` at the root; a list without a prefix says whether there is one. */
  async function ignoreFiles(
    location: BucketLocation,
    all: readonly BucketObject[],
    access: RepositoryAccess,
    limit: Deadline,
  ) {
    const listed = all.find(({ key }) => key === ignoreFileName);
    if (listed === undefined && (location.prefix ?? "") === "") return [];
    const response = await read(
      { key: ignoreFileName, etag: listed?.etag },
      { location, access, limit },
    );
    if (response === undefined) return [];
    const bytes = await readRaw(response, {
      maxBytes: maxIgnoreBytes,
      tooLarge: bucketErrors.BUCKET_TOO_LARGE,
    });
    return [{ directory: "", text: Buffer.from(bytes).toString("utf8") }];
  }

  return {
    list: (location, access, request) => list(location, access, deadlineOf(request)),
    async readObject(location, { key, etag, maxBytes }, access, request) {
      const limit = deadlineOf(request);
      const response = await read({ key, etag }, { location, access, limit });
      if (response === undefined) return undefined;
      return readRaw(response, { maxBytes, tooLarge: bucketErrors.BUCKET_TOO_LARGE });
    },
    async checkout(pin, dir, access, request) {
      const limit = deadlineOf(request);
      const { digest, objects } = await list(pin, access, limit);
      if (digest !== pin.digest)
        throw new AppError(
          bucketErrors.BUCKET_CHANGED,
          `bucket ${bucketAddress(pin)} now has ${digest}, not ${pin.digest} that the chart was resolved from: the hub resolves it again when the version in Chart.yaml is raised, or with reconcileStrategy Revision`,
        );
      return await writeObjects(objectPaths(objects), dir, {
        concurrency: concurrentReads,
        async open(object, signal) {
          const response = await read(object, {
            location: pin,
            access,
            limit: { ...limit, signal },
          });
          if (response === undefined) throw changed(pin, object.key);
          return response;
        },
        signal: limit.signal,
      });
    },
  };
}

interface Failed {
  readonly response: Exchange;
  readonly refused: S3Failure;
}

/** One time for all requests of a call. */
interface Deadline {
  readonly signal: AbortSignal | undefined;
  leftMs(): number;
}

function deadlineOf({ signal, timeoutMs }: BucketRequest): Deadline {
  const endsAt = performance.now() + timeoutMs;
  return { signal, leftMs: () => Math.max(1, Math.round(endsAt - performance.now())) };
}

function pageOf(response: Exchange, bytes: Uint8Array) {
  try {
    return parsePage(Buffer.from(bytes).toString("utf8"));
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new AppError(bucketErrors.BUCKET_REQUEST, `${response.request}: ${why}`, {
      cause: thrown,
    });
  }
}

function changed(location: BucketLocation, key: string): AppError {
  return new AppError(
    bucketErrors.BUCKET_CHANGED,
    `object ${JSON.stringify(key)} of bucket ${bucketAddress(location)} changed while it was read`,
  );
}

function underPrefix({ prefix = "" }: BucketLocation): string {
  return prefix === "" ? "" : ` with the prefix ${JSON.stringify(prefix)}`;
}
