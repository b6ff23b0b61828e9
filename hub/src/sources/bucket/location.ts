/** What a Bucket says about where its objects are, and what of it is not supported. Pure. */

import type { Bucket, BucketSpec } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import type { RepositoryAccess } from "@flotilla/shared/source";
import { type BucketLocation, bucketAddress } from "@flotilla/shared/source/bucket";
import { sourceAccess } from "../fluxsource/access.ts";
import { SourceError } from "../fluxsource/source-error.ts";

/** Throws a SourceError for a Bucket that has no spec, or one that cannot be read from anywhere but its own cloud. */
export function bucketLocation({ spec }: Bucket): BucketLocation {
  if (spec === undefined)
    throw new SourceError(
      fluxReason.bucketOperationFailed,
      "the Bucket has no spec: set spec.endpoint and spec.bucketName",
      { stalls: true },
    );
  const refused = refusalOf(spec);
  if (refused !== undefined) throw refused;
  const { endpoint, bucketName, region, prefix, insecure, ignore } = spec;
  return {
    endpoint,
    bucketName,
    ...(given(region) && { region }),
    ...(insecure === true && { insecure }),
    ...(given(prefix) && { prefix }),
    ...(given(ignore) && { ignore }),
  };
}

/** Its address without secrets; "" where it has none. */
export function addressOf(bucket: Bucket): string {
  try {
    return bucketAddress(bucketLocation(bucket));
  } catch {
    return "";
  }
}

/** Throws a SourceError when its Secrets cannot be used. */
export function bucketAccess(
  { spec }: Bucket,
  location: BucketLocation,
  secret: (name: string) => ReferencedObjectData | undefined,
): RepositoryAccess {
  const url = bucketAddress(location);
  return sourceAccess(
    "Bucket",
    { ...spec, url },
    { kind: "http", repository: url, chart: "" },
    secret,
  );
}

/** The hub and its agents read the bucket from elsewhere, so they do not have the identities of its cloud. */
function refusalOf({ provider, secretRef, serviceAccountName, sts }: BucketSpec) {
  const keys = "set spec.secretRef to a Secret with accesskey and secretkey";
  const refuse = (reason: string, what: string, instead: string): SourceError =>
    new SourceError(reason, `${what} of a Bucket is not supported: ${instead}`, { stalls: true });
  if (sts !== undefined)
    return refuse(fluxReason.invalidSTSConfiguration, `spec.sts (${sts.provider})`, keys);
  if (given(serviceAccountName))
    return refuse(fluxReason.featureGateDisabled, "spec.serviceAccountName", keys);
  if (provider === "azure")
    return refuse(
      fluxReason.invalidProviderConfiguration,
      "spec.provider azure",
      "put the charts into a bucket of S3, or into a registry",
    );
  if (provider === "gcp")
    return refuse(
      fluxReason.invalidProviderConfiguration,
      "spec.provider gcp",
      "use provider generic, endpoint storage.googleapis.com and a Secret with an HMAC key of Google (accesskey, secretkey)",
    );
  if (provider !== "generic" && secretRef === undefined)
    return refuse(
      fluxReason.invalidProviderConfiguration,
      `spec.provider ${provider} without spec.secretRef`,
      `${keys}, or provider to generic for a bucket that anyone may read`,
    );
  return undefined;
}

function given(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
