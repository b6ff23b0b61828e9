/**
 * Why a bucket cannot be listed or an object of it not be read. All but an invalid address are retryable: buckets and permissions
 * change without a change of the Bucket. No message has a key of the Secret.
 */
import { defineErrors } from "../../../runtime/errors/index.ts";

export const bucketErrors = defineErrors({
  BUCKET_INVALID: {
    retryable: false,
    help: "The endpoint, the name or the region of a Bucket is invalid. The message says which.",
  },
  BUCKET_REQUEST: {
    retryable: true,
    help: "Reading a bucket failed. The message has the request and the reason. It is retried automatically.",
  },
  BUCKET_UNAUTHORIZED: {
    retryable: true,
    help: "The bucket denies access. Check accesskey and secretkey of the Secret that spec.secretRef names, and what they permit: listing the bucket and reading its objects.",
  },
  BUCKET_NOT_FOUND: {
    retryable: true,
    help: "The endpoint has no bucket of this name. Check spec.bucketName and spec.endpoint.",
  },
  BUCKET_TOO_LARGE: {
    retryable: true,
    help: "The bucket has more objects or more bytes than the limit. Set spec.prefix or spec.ignore, so that only what charts need is read.",
  },
  BUCKET_KEY_INVALID: {
    retryable: true,
    help: "The key of an object is not a path below the root of the bucket, is longer than 1,024 bytes, or two keys are the same path. The message says which. Rename the object, or ignore it by spec.ignore; one that is too long can only be left out by spec.prefix.",
  },
  BUCKET_CHANGED: {
    retryable: true,
    help: "The objects of the bucket are no longer those that the chart was resolved from. The hub lists them again at the next interval of the Bucket, and resolves the chart again when the version in Chart.yaml is raised, or with reconcileStrategy Revision.",
  },
});
