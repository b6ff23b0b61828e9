export { BucketClient } from "./client.ts";
export { bucketErrors } from "./errors.ts";
export type { BucketLimits, BucketListing } from "./list-objects.ts";
export { objectsDigest } from "./listing.ts";
export { type BucketLocation, bucketAddress, bucketInHost, regionOf } from "./location.ts";
export { encodeKey, signRequest } from "./signature.ts";
