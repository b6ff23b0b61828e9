/** Where a bucket is, and the addresses of its requests. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import { bucketErrors } from "./errors.ts";
import { encodeKey, queryText } from "./signature.ts";

/** A BucketPin is one. */
export interface BucketLocation {
  /** HOST or HOST:PORT. */
  readonly endpoint: string;
  readonly bucketName: string;
  readonly region?: string | undefined;
  /** Plain HTTP. */
  readonly insecure?: boolean | undefined;
  readonly prefix?: string | undefined;
  /** `spec.ignore`. */
  readonly ignore?: string | undefined;
}

const defaultRegion = "us-east-1";
const bucketNamePattern = /^[a-z0-9A-Z][a-z0-9A-Z._-]{1,253}[a-z0-9A-Z]$/;
const regionPattern = /^[a-zA-Z0-9_-]{1,64}$/;
/** `s3.amazonaws.com`, `s3.REGION.amazonaws.com`, `s3-REGION.amazonaws.com`, with `dualstack`, and the hosts in China. */
const amazonHost = /^s3(?:[.-](?:dualstack\.)?([a-z0-9-]+))?\.amazonaws\.com(?:\.cn)?$/;

/** The address of the bucket for messages and for credentials: `https://host:port/bucket`. Throws BUCKET_INVALID. */
export function bucketAddress(location: BucketLocation): string {
  return `${endpointOf(location).origin}/${location.bucketName}`;
}

/** The region that requests are signed for, when no other is known from the server. */
export function regionOf(location: BucketLocation): string {
  const { region = "" } = location;
  if (region !== "") {
    if (!regionPattern.test(region))
      throw new AppError(
        bucketErrors.BUCKET_INVALID,
        `region ${JSON.stringify(region)} is invalid`,
      );
    return region;
  }
  const named = amazonHost.exec(endpointOf(location).hostname)?.[1];
  return named === undefined || named === "external-1" ? defaultRegion : named;
}

/** Bucket and endpoint of a host that Amazon has for a bucket, as `web.s3.eu-west-1.amazonaws.com`; undefined for any other host. */
export function bucketInHost(
  host: string,
): Pick<BucketLocation, "endpoint" | "bucketName"> | undefined {
  for (let dot = host.indexOf("."); dot > 0; dot = host.indexOf(".", dot + 1)) {
    const endpoint = host.slice(dot + 1);
    if (amazonHost.test(endpoint)) return { endpoint, bucketName: host.slice(0, dot) };
  }
  return undefined;
}

/** The address of an object, or of the bucket itself for the key "". Amazon has buckets as hosts, all others as paths. */
export function requestUrl(
  location: BucketLocation,
  region: string,
  {
    key = "",
    query = {},
  }: { readonly key?: string; readonly query?: Readonly<Record<string, string>> },
): URL {
  const { bucketName } = location;
  const url = endpointOf(location);
  const isAmazon = amazonHost.test(url.hostname);
  // A bucket whose region the server has named is at the host of that region.
  if (isAmazon && region !== defaultRegion && url.hostname === "s3.amazonaws.com")
    url.hostname = `s3.${region}.amazonaws.com`;
  // A certificate of `*.s3...` does not cover names with dots.
  const isHost = isAmazon && !bucketName.includes(".") && bucketName === bucketName.toLowerCase();
  if (isHost) url.hostname = `${bucketName}.${url.hostname}`;
  const path = isHost ? `/${encodeKey(key)}` : `/${bucketName}/${encodeKey(key)}`;
  const search = queryText(query);
  return new URL(`${url.origin}${path}${search === "" ? "" : `?${search}`}`);
}

function endpointOf({ endpoint, bucketName, insecure }: BucketLocation): URL {
  if (!bucketNamePattern.test(bucketName) || bucketName.includes(".."))
    throw new AppError(
      bucketErrors.BUCKET_INVALID,
      `bucketName ${JSON.stringify(bucketName)} is not a name of a bucket`,
    );
  const url = /[/@?#\s\\]/.test(endpoint)
    ? null
    : URL.parse(`${insecure === true ? "http" : "https"}://${endpoint}`);
  if (url === null || url.hostname === "")
    throw new AppError(
      bucketErrors.BUCKET_INVALID,
      `endpoint ${JSON.stringify(endpoint)} is not HOST or HOST:PORT: write it without a scheme and a path`,
    );
  return url;
}
