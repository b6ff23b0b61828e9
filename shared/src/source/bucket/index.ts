export {
  type BucketClient,
  type BucketLimits,
  type BucketListing,
  createBucketClient,
} from "./client.ts";
export { bucketErrors } from "./errors.ts";
export { objectsDigest } from "./listing.ts";
export { type BucketLocation, bucketAddress } from "./location.ts";
export { encodeKey, signRequest } from "./signature.ts";
