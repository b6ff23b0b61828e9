export { createBucketController, secretsOfBucket } from "./controller.ts";
export { type BucketListings, createBucketListings, requestTimeoutMs } from "./listings.ts";
export { addressOf, bucketAccess, bucketLocation } from "./location.ts";
