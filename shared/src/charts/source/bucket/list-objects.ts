/** Lists the objects of a bucket: all pages of it, without what is ignored, within limits. */
import { createTimeSlices, type TimeSlices } from "../../../runtime/concurrency/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { createIgnore, type IgnoreFile, ignoreFileName, maxIgnoreBytes } from "../ignore/index.ts";
import { describeBytes, type Exchange } from "../transport/index.ts";
import { bucketErrors } from "./errors.ts";
import {
  type BucketObject,
  type ListPage,
  objectsDigest,
  parsePage,
  sortedByKey,
} from "./listing.ts";
import { type BucketLocation, bucketAddress } from "./location.ts";
import { checkKeyLength, objectPaths } from "./object-path.ts";
import { readRaw } from "./read-raw.ts";
import type { BucketCall, BucketRequests } from "./requests.ts";

export interface BucketLimits {
  /** How many the list may have, those that are ignored included. */
  readonly maxObjects: number;
  /** How large all objects may be together, without those that are ignored. */
  readonly maxBytes: number;
}

export interface BucketListing {
  /** Flux's revision: over the keys and ETags of the objects. */
  readonly digest: string;
  /** In the order of their keys, without those that are ignored. */
  readonly objects: readonly BucketObject[];
  readonly sizeBytes: number;
}

/** A page has a thousand keys, each at most 1 KiB and three times that when it is encoded. */
const maxPageBytes = 4 * 1024 * 1024;

/** Rejects with BUCKET_TOO_LARGE beyond a limit, and with BUCKET_KEY_INVALID when a key cannot be the path of a file. */
export async function listObjects(
  requests: Pick<BucketRequests, "query" | "read">,
  call: BucketCall,
  limits: BucketLimits,
): Promise<BucketListing> {
  const { location } = call;
  const all = await listAll(requests, call, limits.maxObjects);
  const ignoreFiles = await readIgnoreFiles(requests, call, all);
  const objects = sortedByKey(await withoutIgnored(all, location.ignore, ignoreFiles));
  objectPaths(objects);
  const sizeBytes = objects.reduce((sum, object) => sum + object.sizeBytes, 0);
  if (sizeBytes > limits.maxBytes)
    throw new AppError(
      bucketErrors.BUCKET_TOO_LARGE,
      `bucket ${bucketAddress(location)} has ${describeBytes(sizeBytes)}${underPrefix(location)}, more than ${describeBytes(limits.maxBytes)}`,
    );
  return { digest: objectsDigest(objects), objects, sizeBytes };
}

async function listAll(
  requests: Pick<BucketRequests, "query">,
  call: BucketCall,
  maxObjects: number,
): Promise<readonly BucketObject[]> {
  const { location } = call;
  const slices = createTimeSlices();
  const objects: BucketObject[] = [];
  let continuation: string | undefined;
  do {
    const page = await readPage(requests, call, { continuation, slices });
    for (const object of page.objects) checkKeyLength(object);
    objects.push(...page.objects);
    if (objects.length > maxObjects)
      throw new AppError(
        bucketErrors.BUCKET_TOO_LARGE,
        `bucket ${bucketAddress(location)} has more than ${maxObjects} objects${underPrefix(location)}`,
      );
    ({ continuation } = page);
  } while (continuation !== undefined);
  return objects;
}

async function readPage(
  requests: Pick<BucketRequests, "query">,
  call: BucketCall,
  {
    continuation,
    slices,
  }: { readonly continuation: string | undefined; readonly slices: TimeSlices },
): Promise<ListPage> {
  const response = await requests.query(call, {
    "list-type": "2",
    "encoding-type": "url",
    "max-keys": "1000",
    prefix: call.location.prefix ?? "",
    ...(continuation !== undefined && { "continuation-token": continuation }),
  });
  const bytes = await readRaw(response, {
    maxBytes: maxPageBytes,
    tooLarge: bucketErrors.BUCKET_REQUEST,
  });
  await slices.pause();
  const page = await pageOf(response, bytes, slices);
  if (page.continuation !== undefined && page.continuation === continuation)
    throw new AppError(
      bucketErrors.BUCKET_REQUEST,
      `${response.request}: the list of the bucket does not end`,
    );
  return page;
}

async function pageOf(response: Exchange, bytes: Buffer, slices: TimeSlices): Promise<ListPage> {
  try {
    return await parsePage(bytes.toString("utf8"), slices);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new AppError(bucketErrors.BUCKET_REQUEST, `${response.request}: ${why}`, {
      cause: thrown,
    });
  }
}

/** `.sourceignore` at the root; a list without a prefix says whether there is one. */
async function readIgnoreFiles(
  requests: Pick<BucketRequests, "read">,
  call: BucketCall,
  all: readonly BucketObject[],
): Promise<readonly IgnoreFile[]> {
  const listed = all.find(({ key }) => key === ignoreFileName);
  if (listed === undefined && (call.location.prefix ?? "") === "") return [];
  const response = await requests.read(call, { key: ignoreFileName, etag: listed?.etag });
  if (response === undefined) return [];
  const bytes = await readRaw(response, {
    maxBytes: maxIgnoreBytes,
    tooLarge: bucketErrors.BUCKET_TOO_LARGE,
  });
  return [{ directory: "", text: bytes.toString("utf8") }];
}

async function withoutIgnored(
  all: readonly BucketObject[],
  ignore: string | undefined,
  files: readonly IgnoreFile[],
): Promise<readonly BucketObject[]> {
  const rules = createIgnore({ kind: "bucket", ignore, files });
  const kept: BucketObject[] = [];
  // A thousand patterns on all keys of a large bucket take seconds.
  const slices = createTimeSlices();
  for (const object of all) {
    if (slices.isOver) await slices.pause();
    const { key } = object;
    if (!key.endsWith("/") && key !== ignoreFileName && !(await rules.ignores(key, slices)))
      kept.push(object);
  }
  return kept;
}

function underPrefix({ prefix = "" }: BucketLocation): string {
  return prefix === "" ? "" : ` with the prefix ${JSON.stringify(prefix)}`;
}
