/** A page of a list of objects (ListObjectsV2), and the digest of the objects. Pure. */
import { createHash } from "node:crypto";
import type { TimeSlices } from "../../../runtime/concurrency/index.ts";
import { childText, parseXmlInSlices, type XmlElement } from "./xml.ts";

export interface BucketObject {
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
  readonly sizeBytes: number;
}

const surrogate = /[\ud800-\udfff]/;
/** A hash takes one long text faster than many short ones. */
const objectsOfUpdate = 1_000;

export interface ListPage {
  readonly objects: readonly BucketObject[];
  /** The continuation of the next page. */
  readonly continuation: string | undefined;
}

/** With pauses. Throws an Error when the text is not a list. */
export async function parsePage(text: string, slices: TimeSlices): Promise<ListPage> {
  const root = await parseXmlInSlices(text, slices);
  if (root.name !== "ListBucketResult")
    throw new Error("the response is not a list of a bucket: the endpoint may not be S3");
  const isEncoded = childText(root, "EncodingType")?.toLowerCase() === "url";
  const objects: BucketObject[] = [];
  for (const element of root.children) {
    if (element.name === "Contents") objects.push(objectOf(element, isEncoded));
    if (slices.isOver) await slices.pause();
  }
  const isCut = childText(root, "IsTruncated")?.trim() === "true";
  const continuation = childText(root, "NextContinuationToken");
  if (isCut && (continuation ?? "") === "")
    throw new Error("the list of the bucket is cut off and does not say how to go on");
  return { objects, continuation: isCut ? continuation : undefined };
}

function objectOf(element: XmlElement, isEncoded: boolean): BucketObject {
  const key = childText(element, "Key") ?? "";
  const etag = (childText(element, "ETag") ?? "").trim().replace(/^"|"$/g, "");
  const sizeBytes = Number(childText(element, "Size") ?? Number.NaN);
  if (key === "" || etag === "" || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    throw new Error("an object in the list of the bucket has no key, no ETag or no size");
  return { key: isEncoded ? decoded(key) : key, etag, sizeBytes };
}

/** Keys are encoded as forms are, so that those with control characters can be in XML. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    throw new Error("a key in the list of the bucket is not encoded as the list says");
  }
}

/** Flux's revision of a bucket. */
export function objectsDigest(objects: readonly BucketObject[]): string {
  const hash = createHash("sha256");
  const sorted = sortedByKey(objects);
  for (let at = 0; at < sorted.length; at += objectsOfUpdate) {
    const lines = sorted.slice(at, at + objectsOfUpdate).map(({ key, etag }) => `${key} ${etag}\n`);
    hash.update(lines.join(""));
  }
  return `sha256:${hash.digest("hex")}`;
}

/** In the order of the bytes of their keys. */
export function sortedByKey(objects: readonly BucketObject[]): readonly BucketObject[] {
  // Without characters of two code units code units have the same order as bytes.
  if (!objects.some(({ key }) => surrogate.test(key)))
    return objects.toSorted((a, b) => (a.key < b.key ? -1 : a.key === b.key ? 0 : 1));
  return objects
    .map((object) => ({ object, bytes: Buffer.from(object.key) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ object }) => object);
}
