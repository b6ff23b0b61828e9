export {
  type BucketClient,
  type BucketLimits,
  type BucketListing,
  type BucketRequest,
  createBucketClient,
  defaultBucketLimits,
} from "./client.ts";
export { bucketErrors } from "./errors.ts";
export type { BucketObject } from "./listing.ts";
export { type BucketLocation, bucketAddress } from "./location.ts";
export { encodeKey, type SigningKeys, signRequest } from "./signature.ts";
